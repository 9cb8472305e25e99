#include "DelayKernel.h"

#include <string.h>

#pragma STDC FP_CONTRACT OFF

typedef float Two __attribute__((ext_vector_type(2)));

void backline_delay_run(StereoEcho *echo, float *ring, int64_t mask, int64_t position, int64_t delay,
                        const float *left, const float *right, float *toLeft, float *toRight, int32_t frames) {
  Two low = {echo->lowLeft, echo->lowRight}, high = {echo->highLeft, echo->highRight};
  const Two most = echo->limit, least = -echo->limit;
  const float lowPass = echo->lowPass, highPass = echo->highPass;
  const float lowStep = lowPass + lowPass, highStep = highPass + highPass;
  const float dry = 1 - echo->mix, wet = echo->mix, straight = 1 - echo->crossing, crossed = echo->crossing;
  for (int32_t n = 0; n < frames; n++) {
    Two heard;
    memcpy(&heard, ring + 2 * ((position + n - delay) & mask), sizeof heard);
    const Two above = heard > least ? heard : least;
    const Two bounded = above < most ? above : most;
    const Two below = low + (bounded - low) * lowPass;
    low += (bounded - low) * lowStep;
    const Two kept = below - (high + (below - high) * highPass);
    high += (below - high) * highStep;
    const Two back = kept * echo->feedback;
    const Two input = {left[n], right[n]};
    const Two across = {(left[n] + right[n]) * 0.5f + back[1], back[0]};
    const Two next = crossed == 0 ? input + back : (input + back) * straight + across * crossed;
    memcpy(ring + 2 * ((position + n) & mask), &next, sizeof next);
    const Two output = input * dry + heard * wet;
    toLeft[n] = output[0];
    toRight[n] = output[1];
  }
  echo->lowLeft = low[0], echo->lowRight = low[1], echo->highLeft = high[0], echo->highRight = high[1];
}
