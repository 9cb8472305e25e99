// Sample layouts and whole-number encodings, for the threads that read and write files.
#pragma once

#include <stdbool.h>
#include <stdint.h>

/// Lays `frames` frames of `channelCount` separate channels out one frame after the other.
void backline_interleave(const float *_Nonnull const *_Nonnull channels, int32_t channelCount, int64_t frames,
                         float *_Nonnull interleaved);
/// The other way round.
void backline_deinterleave(const float *_Nonnull interleaved, int32_t channelCount, int64_t frames,
                           float *_Nonnull const *_Nonnull channels);

/// The largest magnitude of `count` samples.
float backline_peak(const float *_Nonnull samples, int64_t count);

/// Rounds samples to whole numbers of 16, 24 or 32 bits, right-justified, and returns how many were too loud and have been
/// clipped.
///
/// A sample that lies between two numbers of 16 or 24 bits gets dither first: triangular noise of two steps' width (Lipshitz,
/// Wannamaker and Vanderkooy 1992), drawn from a hash of `firstIndex` plus its place, so that it depends on the place alone.
/// One that is a whole number already is kept: silence stays silence, and what came from 16 bits goes back unchanged.
int64_t backline_quantize(const float *_Nonnull samples, int64_t count, int32_t bits, int64_t firstIndex,
                          int32_t *_Nonnull whole);
/// Packs numbers of 16, 24 or 32 bits into bytes of either order.
void backline_pack(const int32_t *_Nonnull whole, int64_t count, int32_t bits, bool isBigEndian, uint8_t *_Nonnull bytes);
/// The samples that whole numbers read back as.
void backline_unquantize(const int32_t *_Nonnull whole, int64_t count, int32_t bits, float *_Nonnull samples);

/// The samples that little-endian bytes stand for: whole numbers of 8 (without a sign), 16, 24 or 32 bits, or floats of 32 or 64.
void backline_unpack(const uint8_t *_Nonnull bytes, int64_t count, int32_t bits, bool isFloat, float *_Nonnull samples);

/// Packs samples as floats of 32 or 64 bits into bytes of either order.
void backline_pack_floats(const float *_Nonnull samples, int64_t count, int32_t bits, bool isBigEndian,
                          uint8_t *_Nonnull bytes);
