#include "ConvolutionKernel.h"

#include "vectors.h"

#pragma STDC FP_CONTRACT OFF

static ALWAYS_INLINE void backline_twist_body(const float *early, const float *late, const float *cosines,
                                              const float *sines, float *real, float *imaginary, int64_t count) {
  for (int64_t i = 0; i < count; i += 16) {
    const Sixteen a = LOAD_SIXTEEN(early + i), b = LOAD_SIXTEEN(late + i);
    const Sixteen c = LOAD_SIXTEEN(cosines + i), s = LOAD_SIXTEEN(sines + i);
    STORE_SIXTEEN(real + i, a * c - b * s);
    STORE_SIXTEEN(imaginary + i, a * s + b * c);
  }
}

WIDEST_FUNCTION(backline_twist,
                (const float *early, const float *late, const float *cosines, const float *sines, float *real,
                 float *imaginary, int64_t count),
                (early, late, cosines, sines, real, imaginary, count))

static ALWAYS_INLINE void backline_untwist_body(const float *real, const float *imaginary, const float *cosines,
                                                const float *sines, float *late, int64_t count) {
  for (int64_t i = 0; i < count; i += 16) {
    const Sixteen a = LOAD_SIXTEEN(real + i), b = LOAD_SIXTEEN(imaginary + i);
    STORE_SIXTEEN(late + i, b * LOAD_SIXTEEN(cosines + i) - a * LOAD_SIXTEEN(sines + i));
  }
}

WIDEST_FUNCTION(backline_untwist,
                (const float *real, const float *imaginary, const float *cosines, const float *sines, float *late,
                 int64_t count),
                (real, imaginary, cosines, sines, late, count))

static ALWAYS_INLINE void add_products(float *sum, const float *const *first, const float *const *second,
                                       const int32_t terms, int64_t stride, int64_t count) {
  for (int64_t i = 0; i < count; i += 16) {
    Sixteen real = LOAD_SIXTEEN(sum + i), imaginary = LOAD_SIXTEEN(sum + stride + i);
    UNROLLED for (int32_t k = 0; k < terms; k++) {
      const Sixteen ar = LOAD_SIXTEEN(first[k] + i), ai = LOAD_SIXTEEN(first[k] + stride + i);
      const Sixteen br = LOAD_SIXTEEN(second[k] + i), bi = LOAD_SIXTEEN(second[k] + stride + i);
      real += ar * br - ai * bi;
      imaginary += ar * bi + ai * br;
    }
    STORE_SIXTEEN(sum + i, real);
    STORE_SIXTEEN(sum + stride + i, imaginary);
  }
}

static ALWAYS_INLINE void backline_add_products_body(float *sum, const float *const *first,
                                                     const float *const *second, int32_t terms, int64_t stride,
                                                     int64_t count) {
  switch (terms) {
  case 1: add_products(sum, first, second, 1, stride, count); break;
  case 2: add_products(sum, first, second, 2, stride, count); break;
  case 3: add_products(sum, first, second, 3, stride, count); break;
  case 4: add_products(sum, first, second, 4, stride, count); break;
  default: break;
  }
}

WIDEST_FUNCTION(backline_add_products,
                (float *sum, const float *const *first, const float *const *second, int32_t terms, int64_t stride,
                 int64_t count),
                (sum, first, second, terms, stride, count))

static ALWAYS_INLINE void backline_add_fir_body(float *out, const float *in, const float *taps, int64_t tapCount,
                                                int64_t count) {
  int64_t n = 0;
  for (; n + 32 <= count; n += 32) {
    Sixteen low = 0, high = 0;
    for (int64_t i = 0; i < tapCount; i++) {
      low += taps[i] * LOAD_SIXTEEN(in + n - i);
      high += taps[i] * LOAD_SIXTEEN(in + n + 16 - i);
    }
    STORE_SIXTEEN(out + n, LOAD_SIXTEEN(out + n) + low);
    STORE_SIXTEEN(out + n + 16, LOAD_SIXTEEN(out + n + 16) + high);
  }
  for (; n + 8 <= count; n += 8) {
    Eight sum = 0;
    for (int64_t i = 0; i < tapCount; i++) sum += taps[i] * LOAD_EIGHT(in + n - i);
    STORE_EIGHT(out + n, LOAD_EIGHT(out + n) + sum);
  }
  for (; n < count; n++) {
    float sum = 0;
    for (int64_t i = 0; i < tapCount; i++) sum += taps[i] * in[n - i];
    out[n] += sum;
  }
}

WIDEST_FUNCTION(backline_add_fir,
                (float *out, const float *in, const float *taps, int64_t tapCount, int64_t count),
                (out, in, taps, tapCount, count))
