// Rings of samples that are written and read some frames at a time, so that loops over them run in vectors.
//
// Several rings of one size are written in step. The start of each is repeated behind its end, so that some frames can be
// read at once from anywhere; and some frames may be written at once anywhere, also behind the end, when `close` follows.
#pragma once

#include <stdint.h>
#include <string.h>

#ifndef REALTIME_SAFE
#define REALTIME_SAFE __attribute__((swift_attr("@_noLocks"))) __attribute__((swift_attr("@_noAllocation")))
#endif

enum {
  /// The most frames that are written or read at once: a quantum.
  BacklineBlockFrames = 32,
  /// The samples repeated behind the end of a ring. Vectors may read and write up to seven samples beyond a block's end.
  BacklineRingMargin = 64,
};

/// Rings of `size` samples, each `stride` samples after the one before.
typedef struct BlockRings {
  float *_Nonnull samples;
  int64_t stride, size;
  /// Where the next frame goes, and how many have been written since the last reset; what is older reads as silence.
  int64_t position, written;
} BlockRings;

/// The place in a ring of what stands `at` frames after its end, which is in the past where that is negative.
static inline int64_t backline_rings_place(const BlockRings *_Nonnull rings, int64_t at) {
  const int64_t place = rings->position + at;
  return place < 0 ? place + rings->size : place >= rings->size ? place - rings->size : place;
}

/// Where the coming frames of a ring go.
static inline float *_Nonnull backline_rings_end(const BlockRings *_Nonnull rings, int64_t ring) {
  return rings->samples + ring * rings->stride + rings->position;
}

/// Makes the ring whole after `frames` frames have been written at its end.
static inline void backline_rings_close(const BlockRings *_Nonnull rings, int64_t ring, int64_t frames) {
  const int64_t beyond = rings->position + frames - rings->size;
  if (beyond <= 0 && rings->position >= BacklineRingMargin) return;
  float *start = rings->samples + ring * rings->stride;
  if (beyond > 0) memcpy(start, start + rings->size, (size_t)beyond * sizeof(float));
  memcpy(start + rings->size, start, BacklineRingMargin * sizeof(float));
}

/// Moves all rings on by `frames` frames.
REALTIME_SAFE static inline void backline_rings_advance(BlockRings *_Nonnull rings, int64_t frames) {
  rings->position = backline_rings_place(rings, frames);
  if (rings->written <= rings->size) rings->written += frames;
}

/// `frames` samples of a ring, the first of them `age` frames before its end. `scratch`, as long as a block and seven more,
/// is used where some of them are silence from before the first.
static inline const float *_Nonnull backline_rings_past(const BlockRings *_Nonnull rings, int64_t ring, int64_t age,
                                                        float *_Nonnull scratch, int64_t frames) {
  const float *from = rings->samples + ring * rings->stride + backline_rings_place(rings, -age);
  const int64_t hidden = age - rings->written;
  if (hidden <= 0) return from;
  for (int64_t i = 0; i < frames; i++) scratch[i] = i < hidden ? 0 : from[i];
  return scratch;
}
