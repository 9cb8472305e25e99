// The loops of a compressor's gain.
#pragma once

#include <stdint.h>

#ifndef REALTIME_SAFE
#define REALTIME_SAFE __attribute__((swift_attr("@_noLocks"))) __attribute__((swift_attr("@_noAllocation")))
#endif

/// A compressor's curve and smoother while nothing of them moves. Levels and gains in octaves of amplitude.
typedef struct CompressorSettings {
  /// Where the knee begins, its width, half its inverse (0 where it has no width), and 1 - 1 / ratio.
  float start, knee, perKnee, slope;
  /// What is added to the gain.
  float added;
  /// The parts of the way that a frame goes.
  float attack, release;
} CompressorSettings;

/// What a smoother counts as none, in octaves: 6e-6 dB.
static const double backline_negligible_reduction = 1e-6;

/// One frame of the smooth branching detector: the reduction after one that was `reduction`, when `wanted` is asked for.
/// In release, what is negligible ends at once: a state that has come to rest is exactly that of a reset.
REALTIME_SAFE static inline double backline_follow_reduction(double reduction, float wanted, float attack,
                                                             float release) {
#pragma STDC FP_CONTRACT OFF
  const double goal = wanted;
  // Both ways at once, since which is taken cannot be foreseen.
  const double up = reduction * (1 - (double)attack) + goal * (double)attack;
  const double down = reduction * (1 - (double)release) + goal * (double)release;
  const double next = goal > reduction ? up : down;
  return __builtin_expect(next < backline_negligible_reduction, 0) && !(goal > reduction) ? goal : next;
}

/// The gain of each frame for the peak of both channels. `gains` has room for a multiple of eight.
REALTIME_SAFE void backline_compressor_gains(const float *_Nonnull left, const float *_Nonnull right,
                                             float *_Nonnull gains, int32_t frames,
                                             const CompressorSettings *_Nonnull settings,
                                             double *_Nonnull reduction);
