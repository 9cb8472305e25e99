#include "TruePeak.h"

#include <math.h>

#pragma STDC FP_CONTRACT OFF

static double bessel(double x) {
  double term = 1, sum = 1;
  for (int k = 1; k < 40; k++) {
    term *= (x / 2 / k) * (x / 2 / k);
    sum += term;
  }
  return sum;
}

void backline_true_peak_design(TruePeakFilter *filter, int32_t taps) {
  const double beta = taps > 48 ? 4 : 5.5, half = taps / 2.0;
  filter->taps = taps;
  filter->gain = 0;
  for (int phase = 0; phase < 4; phase++) {
    double values[backline_true_peak_most_taps], sum = 0, most = 0;
    for (int tap = 0; tap < taps; tap++) {
      // The sample of index taps / 2 - 1 from the oldest is at 0; the point that is looked for is at phase / 4.
      const double x = tap - taps / 2 + 1 - phase / 4.0;
      const double inside = 1 - (x / half) * (x / half);
      const double window = inside > 0 ? bessel(beta * sqrt(inside)) / bessel(beta) : 0;
      values[tap] = window * (x == 0 ? 1 : sin(M_PI * x) / (M_PI * x));
      sum += values[tap];
      most += fabs(values[tap]);
    }
    for (int tap = 0; tap < taps; tap++) filter->coefficients[tap][phase] = (float)(values[tap] / sum);
    filter->gain = fmaxf(filter->gain, (float)(1.1 * most / sum));
  }
}

/// The extreme of a parabola through three points, where it lies between the outer two, else 0.
static inline float vertex(float before, float middle, float after) {
  const float slope = 0.5f * (after - before), bend = before - 2 * middle + after;
  return fabsf(slope) < fabsf(bend) ? fabsf(middle - 0.5f * slope * slope / bend) : 0;
}

static inline float larger(float a, float b) { return a > b ? a : b; }

float backline_true_peak_next(TruePeakState *state, const TruePeakFilter *filter, float sample, float floor) {
  const int32_t taps = filter->taps;
  int32_t position = state->position;
  state->samples[position] = sample;
  state->samples[position + taps] = sample;
  position = position + 1 == taps ? 0 : position + 1;
  state->position = position;
  const float *oldest = state->samples + position;
  const float now = oldest[taps / 2 - 1], next = oldest[taps / 2];
  if (fabsf(sample) * filter->gain >= floor) {
    state->loud = taps + 1;
  } else if (state->loud > 0) {
    state->loud--;
  } else {
    state->last = now;
    return larger(fabsf(now), fabsf(next));
  }
  TruePeakPhases sum = {0, 0, 0, 0}, other = {0, 0, 0, 0};
  for (int32_t tap = 0; tap < taps; tap += 2) {
    sum += oldest[tap] * filter->coefficients[tap];
    other += oldest[tap + 1] * filter->coefficients[tap + 1];
  }
  sum += other;
  sum[0] = now;
  float peak = larger(larger(fabsf(sum[0]), fabsf(sum[1])), larger(larger(fabsf(sum[2]), fabsf(sum[3])), fabsf(next)));
  // Between the points, at most 0.6 dB more.
  if (peak >= 0.93f * floor) {
    peak = larger(peak, vertex(state->last, sum[0], sum[1]));
    peak = larger(peak, vertex(sum[0], sum[1], sum[2]));
    peak = larger(peak, vertex(sum[1], sum[2], sum[3]));
    peak = larger(peak, vertex(sum[2], sum[3], next));
  }
  state->last = sum[3];
  return peak;
}
