#include "TruePeak.h"

#include <math.h>
#include <string.h>

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
  filter->gain = 1.1f;
  for (int point = 0; point < 3; point++) {
    double values[backline_true_peak_most_taps], sum = 0, most = 0;
    for (int tap = 0; tap < taps; tap++) {
      // The sample of index taps / 2 - 1 from the oldest is at 0; the point that is looked for is at a quarter or more.
      const double x = tap - taps / 2 + 1 - (point + 1) / 4.0;
      const double inside = 1 - (x / half) * (x / half);
      const double window = inside > 0 ? bessel(beta * sqrt(inside)) / bessel(beta) : 0;
      values[tap] = window * sin(M_PI * x) / (M_PI * x);
      sum += values[tap];
      most += fabs(values[tap]);
    }
    for (int tap = 0; tap < taps; tap++) filter->coefficients[point][tap] = (float)(values[tap] / sum);
    // A parabola through the points may reach a little higher.
    filter->gain = fmaxf(filter->gain, (float)(1.1 * most / sum));
  }
}

/// The extreme of a parabola through three points, where it lies between the outer two, else 0.
static inline float vertex(float before, float middle, float after) {
  const float slope = 0.5f * (after - before), bend = before - 2 * middle + after;
  return fabsf(slope) < fabsf(bend) ? fabsf(middle - 0.5f * slope * slope / bend) : 0;
}

static inline float larger(float a, float b) { return a > b ? a : b; }

typedef float EightFloats __attribute__((ext_vector_type(8)));
typedef EightFloats EightAnywhere __attribute__((aligned(4)));

/// The points between the samples, eight frames at a time.
static inline __attribute__((always_inline)) void interpolate(const TruePeakFilter *filter, const float *oldest,
                                                              float (*points)[backline_true_peak_chunk + 8],
                                                              int32_t count) {
  for (int32_t n = 0; n < count; n += 8) {
    EightFloats even[3] = {0, 0, 0}, odd[3] = {0, 0, 0};
    for (int32_t tap = 0; tap < filter->taps; tap += 2) {
      const EightFloats first = *(const EightAnywhere *)(oldest + n + tap);
      const EightFloats second = *(const EightAnywhere *)(oldest + n + tap + 1);
      for (int point = 0; point < 3; point++) {
        even[point] += first * filter->coefficients[point][tap];
        odd[point] += second * filter->coefficients[point][tap + 1];
      }
    }
    for (int point = 0; point < 3; point++) *(EightAnywhere *)(points[point] + n) = even[point] + odd[point];
  }
}

#if defined(__x86_64__)
// Registers of twice the width where the processor has them: the same operations, so the same bits.
__attribute__((target("avx"))) static void interpolate_wide(const TruePeakFilter *filter, const float *oldest,
                                                            float (*points)[backline_true_peak_chunk + 8],
                                                            int32_t count) {
  interpolate(filter, oldest, points, count);
}
#endif

static void find_points(const TruePeakFilter *filter, const float *oldest,
                        float (*points)[backline_true_peak_chunk + 8], int32_t count) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx")) {
    interpolate_wide(filter, oldest, points, count);
    return;
  }
#endif
  interpolate(filter, oldest, points, count);
}

void backline_true_peak_run(TruePeakState *state, const TruePeakFilter *filter, const float *samples, float *peaks,
                            int32_t count, float floor) {
  const int32_t taps = filter->taps;
  if (count <= 0 || count > backline_true_peak_chunk) return;
  memcpy(state->samples + taps, samples, (size_t)count * sizeof(float));
  float largest = 0;
  for (int32_t n = 0; n < taps + count; n++) largest = larger(largest, fabsf(state->samples[n]));
  const float *oldest = state->samples + 1;
  const float *middle = oldest + taps / 2 - 1;
  if (largest * filter->gain < floor) {
    for (int32_t n = 0; n < count; n++) peaks[n] = larger(fabsf(middle[n]), fabsf(middle[n + 1]));
    state->last = middle[count - 1];
  } else {
    float points[3][backline_true_peak_chunk + 8];
    find_points(filter, oldest, points, count);
    for (int32_t n = 0; n < count; n++) {
      const float a = middle[n], b = points[0][n], c = points[1][n], d = points[2][n], e = middle[n + 1];
      float peak = larger(larger(fabsf(a), fabsf(b)), larger(larger(fabsf(c), fabsf(d)), fabsf(e)));
      // Between the points, at most 0.6 dB more.
      if (peak >= 0.93f * floor) {
        peak = larger(peak, vertex(state->last, a, b));
        peak = larger(peak, vertex(a, b, c));
        peak = larger(peak, vertex(b, c, d));
        peak = larger(peak, vertex(c, d, e));
      }
      state->last = d;
      peaks[n] = peak;
    }
  }
  memmove(state->samples, state->samples + count, (size_t)taps * sizeof(float));
}
