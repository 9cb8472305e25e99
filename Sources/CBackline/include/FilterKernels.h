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
