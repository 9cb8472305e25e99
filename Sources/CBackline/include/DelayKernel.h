// The loop of the stereo delay while nothing moves.
#pragma once

#include <stdint.h>

#ifndef REALTIME_SAFE
#define REALTIME_SAFE __attribute__((swift_attr("@_noLocks"))) __attribute__((swift_attr("@_noAllocation")))
#endif

/// What a delay does, and the integrators of its filters, left and right.
typedef struct StereoEcho {
  float feedback, mix, crossing;
  /// What is fed back is held to ±`limit`.
  float limit;
  /// The integrators' shares of the input.
  float lowPass, highPass;
  float lowLeft, lowRight, highLeft, highRight;
} StereoEcho;

/// Runs over `frames` frames. `ring` holds `mask + 1` pairs of samples; the next goes to `position`, and the echo is the one
/// `delay` frames before it, at least 1.
REALTIME_SAFE void backline_delay_run(StereoEcho *_Nonnull echo, float *_Nonnull ring, int64_t mask, int64_t position,
                                      int64_t delay, const float *_Nonnull left, const float *_Nonnull right,
                                      float *_Nonnull toLeft, float *_Nonnull toRight, int32_t frames);
