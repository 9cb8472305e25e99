// Arithmetic on a pair of doubles, left and right. Swift's operators on SIMD vectors of floating-point numbers are loops
// over the lanes, which the optimiser puts together again across the wrong operations: the loop of a second-order section
// took 2.5 times as long.
#pragma once

#ifndef REALTIME_SAFE
#define REALTIME_SAFE __attribute__((swift_attr("@_noLocks"))) __attribute__((swift_attr("@_noAllocation")))
#endif

/// `SIMD2<Double>` in Swift.
typedef double StereoVector __attribute__((ext_vector_type(2)));
typedef float BacklineStereoSample __attribute__((ext_vector_type(2)));

/// The coefficients of a second-order section, the same in both lanes.
typedef struct StereoBiquad {
  StereoVector b0, b1, b2, a1, a2;
} StereoBiquad;

REALTIME_SAFE static inline StereoVector backline_stereo_load(const float *_Nonnull left, const float *_Nonnull right) {
  BacklineStereoSample sample = {*left, *right};
  return __builtin_convertvector(sample, StereoVector);
}

REALTIME_SAFE static inline void backline_stereo_store(StereoVector value, float *_Nonnull left,
                                                       float *_Nonnull right) {
  BacklineStereoSample sample = __builtin_convertvector(value, BacklineStereoSample);
  *left = sample[0];
  *right = sample[1];
}

/// The value, or ±1e36 where it is beyond.
REALTIME_SAFE static inline StereoVector backline_stereo_limit(StereoVector value) {
  const StereoVector most = {1e36, 1e36};
  return __builtin_elementwise_max(__builtin_elementwise_min(value, most), -most);
}

/// The next output of a section in direct form 1. Only the last product and difference wait for the output before.
REALTIME_SAFE static inline StereoVector backline_stereo_biquad(StereoBiquad c, StereoVector x, StereoVector x1,
                                                                StereoVector x2, StereoVector y1, StereoVector y2) {
#pragma STDC FP_CONTRACT OFF
  return ((c.b0 * x + (c.b1 * x1 + c.b2 * x2)) - c.a2 * y2) - c.a1 * y1;
}

/// The coefficients one step on.
REALTIME_SAFE static inline StereoBiquad backline_stereo_advance(StereoBiquad c, StereoBiquad step) {
  StereoBiquad next = {c.b0 + step.b0, c.b1 + step.b1, c.b2 + step.b2, c.a1 + step.a1, c.a2 + step.a2};
  return next;
}

/// The point between `from` (0) and `to` (1).
REALTIME_SAFE static inline StereoVector backline_stereo_mix(StereoVector from, StereoVector to, double position) {
#pragma STDC FP_CONTRACT OFF
  return from + (to - from) * position;
}
