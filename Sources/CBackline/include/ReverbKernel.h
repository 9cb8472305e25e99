// The loops of the reverb, over at most `BacklineBlockFrames` frames at a time. Frames of separate lines and channels lie one
// after the other, those of line i from i * BacklineBlockFrames on. Each frame's arithmetic is the same however many are
// asked for. Arrays of frames have room for whole blocks, whatever the number of frames.
#pragma once

#include <stdbool.h>

#include "BlockRings.h"

enum { BacklineReverbLines = 16, BacklineDiffuserRings = 8 };

/// The shelf filter of each line, in direct form 1: y = (b0 x + b1 x1) - a1 y1.
typedef struct ReverbShelves {
  float b0[BacklineReverbLines], b1[BacklineReverbLines], a1[BacklineReverbLines];
  /// What the coefficients move by after each frame.
  float b0Step[BacklineReverbLines], b1Step[BacklineReverbLines], a1Step[BacklineReverbLines];
  /// The last input and output.
  float x1[BacklineReverbLines], y1[BacklineReverbLines];
} ReverbShelves;

/// Takes the input, held to ±`limit`, into a pair of rings, and moves them on.
REALTIME_SAFE void backline_reverb_take(BlockRings *_Nonnull rings, const float *_Nonnull left,
                                        const float *_Nonnull right, float limit, int32_t frames);

/// The frames of a pair of rings that were taken `delay` frames before each of the last `frames` ones.
REALTIME_SAFE void backline_reverb_delayed(const BlockRings *_Nonnull rings, int32_t delay, float *_Nonnull left,
                                           float *_Nonnull right, int32_t frames);

/// A high-pass and a low-pass filter of the first order on both channels: trapezoidal integrators with their shares of the
/// input for each frame. `state` holds the integrators of both channels, those of the high-pass first.
REALTIME_SAFE void backline_reverb_band(float *_Nonnull left, float *_Nonnull right, const float *_Nonnull highPass,
                                        const float *_Nonnull lowPass, float *_Nonnull state, int32_t frames);

/// Four all-pass filters in series on each channel, those of left and right in turn in the rings, each with a delay of at
/// least `frames`; a row of coefficients is for both. Moves the rings on.
REALTIME_SAFE void backline_reverb_diffuse(BlockRings *_Nonnull rings, const int32_t *_Nonnull delays,
                                           const float *_Nonnull coefficients, float *_Nonnull left,
                                           float *_Nonnull right, int32_t frames);

/// Reads the ends of all lines, `lengths` frames and more behind: in the first frame by `offsets`, in each later one by
/// `steps` more, both in frames with 20 bits after the point. Between samples by the cubic of Lagrange. `ends` says where
/// each line's samples are until the rings move on: in `sound`, or in the ring itself.
REALTIME_SAFE void backline_reverb_read(const BlockRings *_Nonnull rings, const int32_t *_Nonnull lengths,
                                        const int32_t *_Nonnull offsets, const int32_t *_Nonnull steps,
                                        float *_Nonnull sound, const float *_Nonnull *_Nonnull ends, int32_t frames);

/// Fades the ends of all lines: from `from` (weight 0) to `ends` (weight 1), which are in `sound` afterwards.
REALTIME_SAFE void backline_reverb_fade(float *_Nonnull sound, const float *_Nonnull *_Nonnull ends,
                                        const float *_Nonnull const *_Nonnull from, const float *_Nonnull weights,
                                        int32_t frames);

/// What is heard of the ends of all lines.
REALTIME_SAFE void backline_reverb_listen(const float *_Nonnull const *_Nonnull ends, float *_Nonnull left,
                                          float *_Nonnull right, int32_t frames);

/// Filters the ends of all lines, mixes them (a Hadamard matrix, whose scale of 1/4 the filters bring), adds the input times
/// `injection`, and writes that to the lines' beginnings. Moves the rings on.
REALTIME_SAFE void backline_reverb_write(BlockRings *_Nonnull rings, const float *_Nonnull const *_Nonnull ends,
                                         ReverbShelves *_Nonnull shelves, bool isMoving, const float *_Nonnull left,
                                         const float *_Nonnull right, const float *_Nonnull injection, int32_t frames);

/// The output: `left` and `right` times 1 - `mix`, and the wet sound, `width` wide, times `mix`. Outputs may be the inputs.
REALTIME_SAFE void backline_reverb_mix(const float *_Nonnull left, const float *_Nonnull right,
                                       const float *_Nonnull wetLeft, const float *_Nonnull wetRight,
                                       const float *_Nonnull mix, const float *_Nonnull width, float *_Nonnull toLeft,
                                       float *_Nonnull toRight, int32_t frames);

/// `to` += (`from` - `to`) times `weights`.
REALTIME_SAFE void backline_reverb_approach(float *_Nonnull to, const float *_Nonnull from,
                                            const float *_Nonnull weights, int32_t frames);
