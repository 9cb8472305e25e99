#include "DynamicsKernel.h"

#include "vectors.h"

#pragma STDC FP_CONTRACT OFF

typedef int32_t EightInts __attribute__((ext_vector_type(8)));

/// The logarithm to base 2, as `FastMath.log2` computes it.
#define LOG2(x)                                                                                                        \
  ({                                                                                                                   \
    const EightInts bits = (EightInts)(x);                                                                             \
    const EightInts exponent = (bits - 0x3F3504F3) >> 23;                                                              \
    const Eight f = (Eight)(bits - (exponent << 23)) - 1.0f;                                                           \
    Eight p = -0.145746723f;                                                                                           \
    p = p * f + 0.236892208f;                                                                                          \
    p = p * f - 0.250068963f;                                                                                          \
    p = p * f + 0.286707133f;                                                                                          \
    p = p * f - 0.360087186f;                                                                                          \
    p = p * f + 0.480939478f;                                                                                          \
    p = p * f - 0.721357167f;                                                                                          \
    p = p * f + 1.44269478f;                                                                                           \
    __builtin_convertvector(exponent, Eight) + p * f;                                                                  \
  })

/// 2 to the power of x, as `FastMath.exp2` computes it.
#define EXP2(x)                                                                                                        \
  ({                                                                                                                   \
    const Eight magic = 12582912.0f;                                                                                   \
    const Eight low = __builtin_elementwise_max((x), (Eight)(-126.0f));                                                \
    const Eight limited = __builtin_elementwise_min(low, (Eight)(126.0f));                                             \
    const Eight rounded = limited + magic;                                                                             \
    const Eight f = limited - (rounded - magic);                                                                       \
    Eight p = 0.00132646749f;                                                                                          \
    p = p * f + 0.00967151113f;                                                                                        \
    p = p * f + 0.0555073395f;                                                                                         \
    p = p * f + 0.240222424f;                                                                                          \
    p = p * f + 0.693147004f;                                                                                          \
    (p * f + 1.0f) * (Eight)(((EightInts)rounded - (EightInts)magic + 127) << 23);                                     \
  })

static ALWAYS_INLINE void backline_compressor_gains_body(const float *left, const float *right, float *gains,
                                                         int32_t frames, const CompressorSettings *settings,
                                                         double *reduction) {
  const Eight loudest = 1048576.0f, softest = 1.0f / 1048576.0f;
  const Eight start = settings->start, knee = settings->knee, perKnee = settings->perKnee, slope = settings->slope;
  for (int32_t n = 0; n < frames; n += 8) {
    const Eight a = __builtin_elementwise_abs(LOAD_SOME(left + n, frames - n));
    const Eight b = __builtin_elementwise_abs(LOAD_SOME(right + n, frames - n));
    const Eight peak = a > b ? a : b;
    const Eight low = peak > softest ? peak : softest;
    const Eight held = low < loudest ? low : loudest;
    const Eight over = LOG2(held) - start;
    const Eight above = over > 0.0f ? over : (Eight)(0.0f);
    const Eight curved = above < knee ? above : knee;
    STORE_EIGHT(gains + n, slope * (curved * curved * perKnee + (above - curved)));
  }
  double now = *reduction;
  const float attack = settings->attack, release = settings->release;
  for (int32_t n = 0; n < frames; n++) {
    now = backline_follow_reduction(now, gains[n], attack, release);
    gains[n] = settings->added - (float)now;
  }
  *reduction = now;
  for (int32_t n = 0; n < frames; n += 8) {
    const Eight octaves = LOAD_EIGHT(gains + n);
    STORE_EIGHT(gains + n, EXP2(octaves));
  }
}

WIDE_FUNCTION(backline_compressor_gains,
              (const float *left, const float *right, float *gains, int32_t frames, const CompressorSettings *settings,
               double *reduction),
              (left, right, gains, frames, settings, reduction))
