// Second-order sections in series, both channels at once.
//
// A section alone waits for its own last output: about 8 cycles a frame, in which a vector unit could do four times the
// work. In series, sections can run side by side when each lags behind the one before by some frames: two frames are enough
// for its input to be ready in time. Results are those of one section after the other, to the bit, on every processor: no
// fused multiplications, and the lag is made up for within the call.
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

/// Runs one section over `frames` frames of two channels; what is beyond ±1e36 is held there. The same bits as
/// `backline_stereo_widen`, `backline_sections_run` and `backline_stereo_narrow`. Input and output may be the same.
REALTIME_SAFE void backline_section_run(StereoSection *_Nonnull section, const float *_Nonnull left,
                                        const float *_Nonnull right, float *_Nonnull toLeft, float *_Nonnull toRight,
                                        int32_t frames);

/// Runs one section whose coefficients move by `step` after each frame.
REALTIME_SAFE void backline_section_run_moving(StereoSection *_Nonnull section, const StereoBiquad *_Nonnull step,
                                               StereoVector *_Nonnull samples, int32_t frames);

/// Two channels to pairs of doubles.
REALTIME_SAFE void backline_stereo_widen(const float *_Nonnull left, const float *_Nonnull right,
                                         StereoVector *_Nonnull to, int32_t frames);

/// Pairs of doubles to two channels; what is beyond ±1e36 is held there.
REALTIME_SAFE void backline_stereo_narrow(const StereoVector *_Nonnull from, float *_Nonnull left,
                                          float *_Nonnull right, int32_t frames);
