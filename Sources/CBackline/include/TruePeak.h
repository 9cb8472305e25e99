// The true peak of a signal: that of the continuous signal that its samples stand for (ITU-R BS.1770-4, annex 2).
//
// The signal is taken four times as often by a polyphase interpolator (a sinc under a Kaiser window), and a parabola through
// three neighbours finds what lies between, so that the reading is that of an oversampling of 16 and more. The
// recommendation's example has 12 coefficients a phase; 32 are right within 0.02 dB up to 0.44 of the sample rate, 96 up to
// 0.48.
#pragma once

#include <stdint.h>

#include "StereoVector.h"

enum { backline_true_peak_most_taps = 96 };

typedef float TruePeakPhases __attribute__((ext_vector_type(4)));

/// The interpolator: `taps` coefficients of each phase. `gain` is what it makes of a sample at most.
typedef struct TruePeakFilter {
  TruePeakPhases coefficients[backline_true_peak_most_taps];
  int32_t taps;
  float gain;
} TruePeakFilter;

/// One channel.
typedef struct TruePeakState {
  /// The last samples, twice over, so that any run of them lies in one piece.
  float samples[2 * backline_true_peak_most_taps];
  int32_t position;
  /// For how many frames more the samples may make a peak.
  int32_t loud;
  /// The last point of the finer grid.
  float last;
} TruePeakState;

/// Designs an interpolator of `taps` coefficients a phase, even and at most 96; control threads only.
void backline_true_peak_design(TruePeakFilter *_Nonnull filter, int32_t taps);

/// Takes a sample. Returns the largest magnitude from the sample `taps / 2` frames before to the one after it.
///
/// What does not reach `floor` may be returned too small: that is how quiet passages cost next to nothing.
REALTIME_SAFE float backline_true_peak_next(TruePeakState *_Nonnull state, const TruePeakFilter *_Nonnull filter,
                                            float sample, float floor);
