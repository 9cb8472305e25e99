// The inner loops of filters and convolution over many samples, four at a time in C's vectors. Every output is summed in the
// same order however many are asked for, so that the bits do not depend on how a signal is cut.
#pragma once

#include <stdint.h>

#ifndef REALTIME_SAFE
#define REALTIME_SAFE __attribute__((swift_attr("@_noLocks"))) __attribute__((swift_attr("@_noAllocation")))
#endif

typedef float BacklineFour __attribute__((vector_size(16), aligned(4), may_alias));

/// out[n] = Σ taps[i] (in[n - i] + in[n - span + i]) for the `pairs` taps of one half of a symmetric filter, where span is
/// 2 pairs - 1. `in` has that many samples of history before it.
REALTIME_SAFE static inline void backline_symmetric_fir(float *_Nonnull out, const float *_Nonnull in,
                                                        const float *_Nonnull taps, int64_t pairs, int64_t count) {
#pragma STDC FP_CONTRACT OFF
  const int64_t span = 2 * pairs - 1;
  int64_t n = 0;
  for (; n + 4 <= count; n += 4) {
    BacklineFour sum = {0, 0, 0, 0};
    for (int64_t i = 0; i < pairs; i++) {
      const BacklineFour newer = *(const BacklineFour *)(in + n - i);
      const BacklineFour older = *(const BacklineFour *)(in + n - span + i);
      sum += taps[i] * (newer + older);
    }
    *(BacklineFour *)(out + n) = sum;
  }
  for (; n < count; n++) {
    float sum = 0;
    for (int64_t i = 0; i < pairs; i++) sum += taps[i] * (in[n - i] + in[n - span + i]);
    out[n] = sum;
  }
}

/// out[n] += Σ taps[i] in[n - i] for `tapCount` taps. `in` has tapCount - 1 samples of history before it.
REALTIME_SAFE static inline void backline_add_fir(float *_Nonnull out, const float *_Nonnull in,
                                                  const float *_Nonnull taps, int64_t tapCount, int64_t count) {
#pragma STDC FP_CONTRACT OFF
  int64_t n = 0;
  for (; n + 8 <= count; n += 8) {
    BacklineFour low = {0, 0, 0, 0}, high = {0, 0, 0, 0};
    for (int64_t i = 0; i < tapCount; i++) {
      low += taps[i] * *(const BacklineFour *)(in + n - i);
      high += taps[i] * *(const BacklineFour *)(in + n + 4 - i);
    }
    *(BacklineFour *)(out + n) += low;
    *(BacklineFour *)(out + n + 4) += high;
  }
  for (; n < count; n++) {
    float sum = 0;
    for (int64_t i = 0; i < tapCount; i++) sum += taps[i] * in[n - i];
    out[n] += sum;
  }
}

/// Adds the products of two split spectra to a third; `count` is a multiple of 4.
REALTIME_SAFE static inline void backline_add_spectra(float *_Nonnull sumReal, float *_Nonnull sumImaginary,
                                                      const float *_Nonnull aReal, const float *_Nonnull aImaginary,
                                                      const float *_Nonnull bReal, const float *_Nonnull bImaginary,
                                                      int64_t count) {
#pragma STDC FP_CONTRACT OFF
  for (int64_t i = 0; i + 4 <= count; i += 4) {
    const BacklineFour ar = *(const BacklineFour *)(aReal + i), ai = *(const BacklineFour *)(aImaginary + i);
    const BacklineFour br = *(const BacklineFour *)(bReal + i), bi = *(const BacklineFour *)(bImaginary + i);
    *(BacklineFour *)(sumReal + i) += ar * br - ai * bi;
    *(BacklineFour *)(sumImaginary + i) += ar * bi + ai * br;
  }
}

/// to[i] = from[i] factors[i]; `to` may be `from`.
REALTIME_SAFE static inline void backline_multiply(float *_Nonnull to, const float *_Nonnull from,
                                                   const float *_Nonnull factors, int64_t count) {
  int64_t i = 0;
  for (; i + 4 <= count; i += 4) {
    *(BacklineFour *)(to + i) = *(const BacklineFour *)(from + i) * *(const BacklineFour *)(factors + i);
  }
  for (; i < count; i++) to[i] = from[i] * factors[i];
}

/// to[i] += from[i].
REALTIME_SAFE static inline void backline_add(float *_Nonnull to, const float *_Nonnull from, int64_t count) {
  for (int64_t i = 0; i < count; i++) to[i] += from[i];
}
