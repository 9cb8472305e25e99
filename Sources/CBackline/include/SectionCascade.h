// Second-order sections in series, both channels at once.
//
// A section alone waits for its own last output: about 8 cycles a frame, in which a vector unit could do four times the
// work. In series, sections can run side by side when each lags behind the one before by some frames: two frames are enough
// for its input to be ready in time. Results are those of one section after the other, to the bit, on every processor: no
// fused multiplications, and the lag is made up for within the call.
//
// One section alone is run in pairs of frames instead: the second frame is computed from the outputs before the first
// (look-ahead of two: Parhi and Messerschmitt, "Pipeline interleaving and parallelism in recursive digital filters", IEEE
// Transactions on Acoustics, Speech and Signal Processing 37, 1989), so that the recursion is waited for half as often.
#pragma once

#include <stdint.h>

#include "StereoVector.h"

/// A stereo second-order section in direct form 1: the last two inputs and outputs, and the coefficients.
typedef struct StereoSection {
  StereoVector x1, x2, y1, y2;
  StereoBiquad coefficients;
} StereoSection;

/// Runs the sections `sections[order[0]]`, `sections[order[1]]`, ... in this order over `frames` frames; `samples` holds
/// input and then output.
REALTIME_SAFE void backline_sections_run(StereoSection *_Nonnull sections, const uint8_t *_Nonnull order, int32_t count,
                                         StereoVector *_Nonnull samples, int32_t frames);

/// What a section needs beside its state to run in pairs of frames.
typedef struct SectionPairs {
  /// What the second frame of a pair takes of the output one and two frames before the pair.
  StereoVector c1, c2;
  /// Of a pair whose first frame alone has been run: that frame's part without the recursion, and the output two frames
  /// before it.
  StereoVector u, y2;
  int32_t isHalf;
} SectionPairs;

/// Pairs for these coefficients; the next begins at an even frame.
REALTIME_SAFE SectionPairs backline_section_pairs(StereoBiquad coefficients);

/// Runs one section over `frames` frames of two channels; what is beyond ±1e36 is held there. `pairs` are those of its
/// coefficients, and `isOdd` tells whether the first frame is the second of a pair: how a sound is cut changes no bit then.
/// Input and output may be the same.
REALTIME_SAFE void backline_section_run(StereoSection *_Nonnull section, SectionPairs *_Nonnull pairs, int32_t isOdd,
                                        const float *_Nonnull left, const float *_Nonnull right,
                                        float *_Nonnull toLeft, float *_Nonnull toRight, int32_t frames);

/// Runs one section whose coefficients move by `step` after each frame.
REALTIME_SAFE void backline_section_run_moving(StereoSection *_Nonnull section, const StereoBiquad *_Nonnull step,
                                               StereoVector *_Nonnull samples, int32_t frames);

/// Two channels to pairs of doubles.
REALTIME_SAFE void backline_stereo_widen(const float *_Nonnull left, const float *_Nonnull right,
                                         StereoVector *_Nonnull to, int32_t frames);

/// Pairs of doubles to two channels; what is beyond ±1e36 is held there.
REALTIME_SAFE void backline_stereo_narrow(const StereoVector *_Nonnull from, float *_Nonnull left,
                                          float *_Nonnull right, int32_t frames);
