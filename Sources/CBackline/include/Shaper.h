// Static curves of distortion and their antialiasing for both channels at once, in the two lanes of a vector: without branches
// where no exponential is needed, since where a driven wave passes the end of a curve cannot be foreseen.
#pragma once

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "StereoVector.h"
#include "TapeKernel.h"

/// All curves have the slope 1 at 0 (the rectifier above it only) and end at ±1 (0 and 1). Polynomials, or one exponential, so
/// that the antiderivatives are exact.
enum {
  BacklineCurveSoft,
  BacklineCurveWarm,
  BacklineCurveDiode,
  BacklineCurveHard,
  BacklineCurveFuzz,
  BacklineCurveRectifier,
};

/// The first and the second antiderivative of a curve, both 0 at 0.
typedef struct StereoIntegrals {
  StereoVector first, second;
} StereoIntegrals;

/// The state of `backline_shaper_next`.
typedef struct StereoShaper {
  /// The last input and its antiderivatives, and the part of the output that the segment before has already given.
  StereoVector last, first, second, carried;
} StereoShaper;

static inline StereoVector backline_stereo_min(StereoVector a, StereoVector b) {
  return __builtin_elementwise_min(a, b);
}

/// `a` where `x` is not negative, else `-a`.
static inline StereoVector backline_stereo_signed(StereoVector a, StereoVector x) {
  return backline_stereo_choose(x < 0.0, -a, a);
}

static inline StereoVector backline_stereo_exp(StereoVector x) {
  const StereoVector power = {exp(x[0]), exp(x[1])};
  return power;
}

/// 1 - exp(-a), as a diode bends, for a from 0 on.
static inline StereoVector backline_diode(StereoVector a) { return 1.0 - backline_stereo_exp(-a); }

static inline StereoIntegrals backline_diode_integrals(StereoVector a) {
#pragma STDC FP_CONTRACT OFF
  const StereoVector e = backline_stereo_exp(-a);
  // The series, where the differences would lose their digits.
  const StereoVector nearFirst = a * a * (0.5 - a * (1.0 / 6 - a / 24.0));
  const StereoVector nearSecond = a * a * a * (1.0 / 6 - a * (1.0 / 24 - a / 120.0));
  const BacklineStereoBits isNear = a < 0.01;
  const StereoIntegrals result = {backline_stereo_choose(isNear, nearFirst, a - 1.0 + e),
                                  backline_stereo_choose(isNear, nearSecond, 0.5 * a * a - a + 1.0 - e)};
  return result;
}

static inline StereoIntegrals backline_clip_integrals(StereoVector a) {
#pragma STDC FP_CONTRACT OFF
  const StereoVector inner = backline_stereo_min(a, (StereoVector){1, 1}), v = a - inner, w = inner * inner;
  const StereoIntegrals result = {0.5 * w + v, inner * w * (1.0 / 6) + v * (0.5 + 0.5 * v)};
  return result;
}

/// The curve itself.
REALTIME_SAFE static inline StereoVector backline_curve(int32_t curve, StereoVector x) {
#pragma STDC FP_CONTRACT OFF
  const StereoVector one = {1, 1}, zero = {0, 0};
  const StereoVector a = __builtin_elementwise_abs(x);
  switch (curve) {
  case BacklineCurveSoft: {
    const StereoVector u = backline_stereo_min(a * (1 / 1.875), one);
    return backline_stereo_signed(u * (1.875 + u * u * (-1.25 + 0.375 * u * u)), x);
  }
  case BacklineCurveWarm: {
    const StereoVector u = backline_stereo_min(a * (1 / 1.5), one);
    return backline_stereo_signed(u * (1.5 - 0.5 * u * u), x);
  }
  case BacklineCurveDiode: return backline_stereo_signed(backline_diode(a), x);
  case BacklineCurveHard: return backline_stereo_signed(backline_stereo_min(a, one), x);
  case BacklineCurveFuzz: return backline_stereo_choose(x < 0.0, -backline_diode(a), backline_stereo_min(a, one));
  default: return backline_stereo_choose(x < 0.0, zero, backline_stereo_min(a, one));
  }
}

REALTIME_SAFE static inline StereoIntegrals backline_curve_integrals(int32_t curve, StereoVector x) {
#pragma STDC FP_CONTRACT OFF
  const StereoVector one = {1, 1}, zero = {0, 0};
  const StereoVector a = __builtin_elementwise_abs(x);
  StereoIntegrals result;
  switch (curve) {
  case BacklineCurveSoft: {
    // (15 u - 10 u³ + 3 u⁵) / 8 up to u = 1, flat to the second order there.
    const double s = 1.875;
    const StereoVector u = a * (1 / s), inner = backline_stereo_min(u, one), v = u - inner, w = inner * inner;
    const StereoVector first = w * (15.0 / 16 - w * (5.0 / 16 - w * (1.0 / 16)));
    const StereoVector second = inner * w * (5.0 / 16 - w * (1.0 / 16 - w * (1.0 / 112)));
    result.first = s * (first + v);
    result.second = backline_stereo_signed(s * s * (second + v * (11.0 / 16 + 0.5 * v)), x);
    return result;
  }
  case BacklineCurveWarm: {
    // (3 u - u³) / 2 up to u = 1.
    const double s = 1.5;
    const StereoVector u = a * (1 / s), inner = backline_stereo_min(u, one), v = u - inner, w = inner * inner;
    const StereoVector first = w * (0.75 - 0.125 * w), second = inner * w * (0.25 - 0.025 * w);
    result.first = s * (first + v);
    result.second = backline_stereo_signed(s * s * (second + v * (0.625 + 0.5 * v)), x);
    return result;
  }
  case BacklineCurveDiode:
    result = backline_diode_integrals(a);
    result.second = backline_stereo_signed(result.second, x);
    return result;
  case BacklineCurveHard:
    result = backline_clip_integrals(a);
    result.second = backline_stereo_signed(result.second, x);
    return result;
  case BacklineCurveFuzz: {
    const StereoIntegrals below = backline_diode_integrals(a), above = backline_clip_integrals(a);
    result.first = backline_stereo_choose(x < 0.0, below.first, above.first);
    result.second = backline_stereo_choose(x < 0.0, -below.second, above.second);
    return result;
  }
  default: return backline_clip_integrals(__builtin_elementwise_max(x, zero));
  }
}

/// What comes out, to the bit, when `bias` has gone in for two frames.
REALTIME_SAFE static inline StereoVector backline_shaper_rest(int32_t curve, StereoVector bias) {
#pragma STDC FP_CONTRACT OFF
  const StereoVector half = 0.5 * backline_curve(curve, bias);
  return half + half;
}

/// Starts on the curve at a resting input.
REALTIME_SAFE static inline StereoShaper backline_shaper_start(int32_t curve, StereoVector bias) {
#pragma STDC FP_CONTRACT OFF
  const StereoIntegrals integrals = backline_curve_integrals(curve, bias);
  const StereoShaper shaper = {bias, integrals.first, integrals.second, 0.5 * backline_curve(curve, bias)};
  return shaper;
}

/// Takes one frame, held to ±4096, and returns the shaped one before it.
///
/// Second-order antiderivative antialiasing. Between two frames the input is taken as a straight line; the curve is applied to
/// that continuous signal, which is smoothed by a triangle two frames wide and sampled again, all in closed form (Parker,
/// Zavalishin and Le Bivic, "Reducing the aliasing of nonlinear waveshaping using continuous-time convolution", DAFx 2016;
/// Bilbao, Esqueda, Parker and Välimäki, "Antiderivative antialiasing for memoryless nonlinearities", IEEE Signal Processing
/// Letters 24, 2017). The triangle's zeros lie on the multiples of the sample rate, where what aliases into the middle of the
/// band comes from. A straight curve passes (2 + cos ω) / 3 of a tone, ω being the phase that it goes through in a frame.
REALTIME_SAFE static inline StereoVector backline_shaper_next(StereoShaper *_Nonnull shaper, int32_t curve,
                                                              StereoVector input) {
#pragma STDC FP_CONTRACT OFF
  const StereoVector limit = {4096, 4096}, one = {1, 1};
  const StereoVector x = __builtin_elementwise_max(-limit, __builtin_elementwise_min(input, limit));
  const StereoVector last = shaper->last;
  const StereoIntegrals integrals = backline_curve_integrals(curve, x);
  const StereoVector d = x - last;
  const BacklineStereoBits isBent = (__builtin_elementwise_abs(x) < 40.0) | (__builtin_elementwise_abs(last) < 40.0) |
                                    ((x < 0.0) ^ (last < 0.0));
  const BacklineStereoBits isLong = isBent & (__builtin_elementwise_abs(d) > 1e-3);
  const StereoVector slope = one / backline_stereo_choose(isLong, d, one);
  const StereoVector difference = (integrals.second - shaper->second) * slope * slope;
  StereoVector rising = integrals.first * slope - difference;
  StereoVector falling = difference - shaper->first * slope;
  const bool isDear = curve == BacklineCurveDiode || curve == BacklineCurveFuzz;
  if (!isDear || (isLong[0] & isLong[1]) == 0) {
    // A short or straight piece: Gauss's two points, without the division by nearly nothing.
    const double low = 0.2113248654051871, high = 0.7886751345948129;
    const StereoVector a = backline_curve(curve, last + low * d), b = backline_curve(curve, last + high * d);
    // Written so that a constant input gives its value to the bit.
    rising = backline_stereo_choose(isLong, rising, 0.5 * (a + high * (b - a)));
    falling = backline_stereo_choose(isLong, falling, 0.5 * (a + low * (b - a)));
  }
  const StereoVector output = shaper->carried + falling;
  shaper->carried = rising;
  shaper->last = x;
  shaper->first = integrals.first;
  shaper->second = integrals.second;
  return output;
}

/// Shapes `count` frames of `factor` samples each, in place; `bias` of a frame is added before the curve and its effect at rest
/// taken away behind it.
REALTIME_SAFE void backline_shape(StereoShaper *_Nonnull shaper, int32_t curve, float *_Nonnull left,
                                  float *_Nonnull right, const float *_Nonnull bias, int32_t factor, int32_t count);
