#include "DelayKernel.h"

#include "vectors.h"

#pragma STDC FP_CONTRACT OFF

typedef float Two __attribute__((ext_vector_type(2)));

enum { chunk = 32 };

/// What comes back from the filters of some echoes, both interleaved.
static ALWAYS_INLINE void filter(StereoEcho *echo, const float *heard, float *back, int64_t frames) {
  Two low = {echo->lowLeft, echo->lowRight}, high = {echo->highLeft, echo->highRight};
  const float lowPass = echo->lowPass, highPass = echo->highPass;
  const float lowStep = lowPass + lowPass, highStep = highPass + highPass;
  const float lowRest = 1 - lowStep, highRest = 1 - highStep;
  for (int64_t n = 0; n < frames; n++) {
    Two x;
    memcpy(&x, heard + 2 * n, sizeof x);
    // Only the last sum of an integrator waits for the frame before.
    const Two below = low + (x - low) * lowPass;
    low = low * lowRest + x * lowStep;
    const Two kept = below - (high + (below - high) * highPass);
    high = high * highRest + below * highStep;
    memcpy(back + 2 * n, &kept, sizeof kept);
  }
  echo->lowLeft = low[0], echo->lowRight = low[1], echo->highLeft = high[0], echo->highRight = high[1];
}

/// Runs over at most `chunk` frames, whose echoes begin at `from`; what will sound goes to `to`. Neither wraps.
static ALWAYS_INLINE void run_chunk(StereoEcho *echo, const float *from, float *to, const float *left,
                                    const float *right, float *toLeft, float *toRight, int64_t frames) {
  float input[2 * chunk], bounded[2 * chunk], back[2 * chunk], output[2 * chunk];
  const float most = echo->limit, least = -echo->limit;
  const float dry = 1 - echo->mix, wet = echo->mix, straight = 1 - echo->crossing, crossed = echo->crossing;
  for (int64_t n = 0; n < frames; n++) input[2 * n] = left[n], input[2 * n + 1] = right[n];
  for (int64_t i = 0; i < 2 * frames; i++) {
    const float above = from[i] > least ? from[i] : least;
    bounded[i] = above < most ? above : most;
    output[i] = input[i] * dry + from[i] * wet;
  }
  filter(echo, bounded, back, frames);
  for (int64_t i = 0; i < 2 * frames; i++) back[i] *= echo->feedback;
  if (crossed == 0) {
    for (int64_t i = 0; i < 2 * frames; i++) to[i] = input[i] + back[i];
  } else {
    for (int64_t n = 0; n < frames; n++) {
      const float l = input[2 * n], r = input[2 * n + 1], backLeft = back[2 * n], backRight = back[2 * n + 1];
      to[2 * n] = (l + backLeft) * straight + ((l + r) * 0.5f + backRight) * crossed;
      to[2 * n + 1] = (r + backRight) * straight + backLeft * crossed;
    }
  }
  for (int64_t n = 0; n < frames; n++) toLeft[n] = output[2 * n], toRight[n] = output[2 * n + 1];
}

static ALWAYS_INLINE int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

static ALWAYS_INLINE void backline_delay_run_body(StereoEcho *echo, float *ring, int64_t mask, int64_t position,
                                                  int64_t delay, const float *left, const float *right,
                                                  float *toLeft, float *toRight, int32_t frames) {
  for (int64_t n = 0; n < frames;) {
    const int64_t from = (position + n - delay) & mask, to = (position + n) & mask;
    // At most what has been written by now, and nothing across the ring's end.
    const int64_t count = least(least(least(chunk, frames - n), delay), mask + 1 - (from > to ? from : to));
    run_chunk(echo, ring + 2 * from, ring + 2 * to, left + n, right + n, toLeft + n, toRight + n, count);
    n += count;
  }
}

WIDE_FUNCTION(backline_delay_run,
              (StereoEcho * echo, float *ring, int64_t mask, int64_t position, int64_t delay, const float *left,
               const float *right, float *toLeft, float *toRight, int32_t frames),
              (echo, ring, mask, position, delay, left, right, toLeft, toRight, frames))
