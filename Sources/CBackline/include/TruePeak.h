// The true peak of a signal: that of the continuous signal that its samples stand for (ITU-R BS.1770-4, annex 2).
//
// The signal is taken four times as often by a polyphase interpolator (a sinc under a Kaiser window), and a parabola through
// three neighbours finds what lies between, so that the reading is that of an oversampling of 16 and more. The
// recommendation's example has 12 coefficients a phase; 32 are right within 0.02 dB up to 0.44 of the sample rate, 96 up to
// 0.48.
#pragma once

#include <stdint.h>

#include "StereoVector.h"

enum { backline_true_peak_most_taps = 96, backline_true_peak_chunk = 64 };

/// The interpolator: `taps` coefficients for each of the three points between two samples. `gain` is what it makes of a sample
/// at most.
typedef struct TruePeakFilter {
  float coefficients[3][backline_true_peak_most_taps];
  int32_t taps;
  float gain;
} TruePeakFilter;

/// One channel.
typedef struct TruePeakState {
  /// The last `taps` samples, and room for a chunk more and a vector.
  float samples[backline_true_peak_most_taps + backline_true_peak_chunk + 8];
  /// The last point of the finer grid.
  float last;
} TruePeakState;

/// Designs an interpolator of `taps` coefficients a point, even and at most 96; control threads only.
void backline_true_peak_design(TruePeakFilter *_Nonnull filter, int32_t taps);

/// Takes up to 64 samples. Writes for each the largest magnitude from the sample `taps / 2` frames before it to the one after
/// that, and what lies between.
///
/// What does not reach `floor` may be written too small: that is how quiet passages cost next to nothing.
REALTIME_SAFE void backline_true_peak_run(TruePeakState *_Nonnull state, const TruePeakFilter *_Nonnull filter,
                                          const float *_Nonnull samples, float *_Nonnull peaks, int32_t count,
                                          float floor);
