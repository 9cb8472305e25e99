#include "CBackline.h"

#include "vectors.h"

#pragma STDC FP_CONTRACT OFF

typedef uint32_t EightWords __attribute__((ext_vector_type(8)));

static ALWAYS_INLINE bool backline_has_non_finite_body(const float *samples, int64_t count) {
  const EightWords exponent = 0x7F800000u;
  EightWords found = 0, others = 0;
  int64_t i = 0;
  for (; i + 16 <= count; i += 16) {
    const EightWords first = (EightWords)LOAD_EIGHT(samples + i), second = (EightWords)LOAD_EIGHT(samples + i + 8);
    found |= (EightWords)((first & exponent) == exponent);
    others |= (EightWords)((second & exponent) == exponent);
  }
  bool any = __builtin_reduce_or(found | others) != 0;
  for (; i < count; i++) {
    uint32_t bits;
    memcpy(&bits, samples + i, sizeof bits);
    any |= (bits & 0x7F800000u) == 0x7F800000u;
  }
  return any;
}

WIDE_QUESTION(bool, backline_has_non_finite, (const float *samples, int64_t count), (samples, count))

static ALWAYS_INLINE void backline_scale_body(float *to, const float *from, float gain, int64_t count) {
  int64_t i = 0;
  for (; i + 8 <= count; i += 8) STORE_EIGHT(to + i, LOAD_EIGHT(from + i) * gain + 0.0f);
  for (; i < count; i++) to[i] = from[i] * gain + 0.0f;
}

WIDE_FUNCTION(backline_scale, (float *to, const float *from, float gain, int64_t count), (to, from, gain, count))
