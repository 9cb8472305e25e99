// The loops of a partitioned convolution. Frames and spectra come in split form; every number is summed in the same order on
// every processor and however the work is shared out.
#pragma once

#include <stdint.h>

#ifndef REALTIME_SAFE
#define REALTIME_SAFE __attribute__((swift_attr("@_noLocks"))) __attribute__((swift_attr("@_noAllocation")))
#endif

enum {
  /// The most products that are added in one pass.
  BacklineProducts = 4,
};

/// real + i imaginary = (early + i late) (cosines + i sines); `count` is a multiple of 16, as in all of these.
REALTIME_SAFE void backline_twist(const float *_Nonnull early, const float *_Nonnull late,
                                  const float *_Nonnull cosines, const float *_Nonnull sines, float *_Nonnull real,
                                  float *_Nonnull imaginary, int64_t count);

/// late = the imaginary part of (real + i imaginary) (cosines - i sines).
REALTIME_SAFE void backline_untwist(const float *_Nonnull real, const float *_Nonnull imaginary,
                                    const float *_Nonnull cosines, const float *_Nonnull sines, float *_Nonnull late,
                                    int64_t count);

/// Adds the products of `terms` pairs of spectra, at most `BacklineProducts`, to a sum, one after the other. The imaginary part
/// of each lies `stride` floats behind its real part.
REALTIME_SAFE void backline_add_products(float *_Nonnull sum, const float *_Nonnull const *_Nonnull first,
                                         const float *_Nonnull const *_Nonnull second, int32_t terms, int64_t stride,
                                         int64_t count);

/// out[n] += Σ taps[i] in[n - i] for `tapCount` taps. `in` has tapCount - 1 samples of history before it.
REALTIME_SAFE void backline_add_fir(float *_Nonnull out, const float *_Nonnull in, const float *_Nonnull taps,
                                    int64_t tapCount, int64_t count);
