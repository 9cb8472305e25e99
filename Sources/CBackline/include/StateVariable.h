// The trapezoidal state-variable filter, both channels at once, each with coefficients of its own.
//
// A. Simper, "Solving the continuous SVF equations using trapezoidal integration and equivalent currents" (Cytomic, 2013).
// Its state is that of the analogue circuit's capacitors, so that it stays stable and quiet while the cutoff moves from
// sample to sample. The response is that of the analogue prototype through the bilinear transform, exact at the cutoff.
#pragma once

#include "StereoVector.h"

/// What the filter remembers.
typedef struct StereoFilterState {
  StereoVector first, second;
} StereoFilterState;

/// `g` is tan(π cutoff / rate), `k` is 1 / Q.
typedef struct StereoFilterCoefficients {
  StereoVector k, a1, a2, a3;
} StereoFilterCoefficients;

/// The outputs that all others are sums of: what is below the cutoff, and what is around it (peak gain Q).
typedef struct StereoFilterOutput {
  StereoVector low, band;
} StereoFilterOutput;

REALTIME_SAFE static inline StereoFilterCoefficients backline_filter_coefficients(StereoVector g, StereoVector k) {
#pragma STDC FP_CONTRACT OFF
  const StereoVector one = {1, 1};
  StereoFilterCoefficients c;
  c.k = k;
  c.a1 = one / (one + g * (g + k));
  c.a2 = g * c.a1;
  c.a3 = g * c.a2;
  return c;
}

REALTIME_SAFE static inline StereoFilterOutput backline_filter_next(StereoFilterState *_Nonnull s,
                                                                    StereoFilterCoefficients c, StereoVector x) {
#pragma STDC FP_CONTRACT OFF
  const StereoVector v3 = x - s->second;
  StereoFilterOutput out;
  out.band = c.a1 * s->first + c.a2 * v3;
  out.low = s->second + (c.a2 * s->first + c.a3 * v3);
  s->first = (out.band + out.band) - s->first;
  s->second = (out.low + out.low) - s->second;
  return out;
}

/// x - k band - low: what is above the cutoff.
REALTIME_SAFE static inline StereoVector backline_filter_high(StereoFilterOutput out, StereoFilterCoefficients c,
                                                              StereoVector x) {
#pragma STDC FP_CONTRACT OFF
  return (x - c.k * out.band) - out.low;
}

/// x - 2 k band: all of it, with the phase of the filter squared.
REALTIME_SAFE static inline StereoVector backline_filter_all(StereoFilterOutput out, StereoFilterCoefficients c,
                                                             StereoVector x) {
#pragma STDC FP_CONTRACT OFF
  return x - (c.k + c.k) * out.band;
}

/// `input` · x + `band` · k band + `low` · low: with these weights any of the filter's responses.
REALTIME_SAFE static inline StereoVector backline_filter_mix(StereoFilterOutput out, StereoFilterCoefficients c,
                                                             StereoVector x, double input, double band, double low) {
#pragma STDC FP_CONTRACT OFF
  return input * x + (band * (c.k * out.band) + low * out.low);
}

REALTIME_SAFE static inline StereoVector backline_stereo_scale(StereoVector x, double factor) { return x * factor; }
REALTIME_SAFE static inline StereoVector backline_stereo_add(StereoVector x, StereoVector y) { return x + y; }
REALTIME_SAFE static inline StereoVector backline_stereo_subtract(StereoVector x, StereoVector y) { return x - y; }
