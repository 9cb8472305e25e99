#include "Shaper.h"

#pragma STDC FP_CONTRACT OFF

static inline __attribute__((always_inline)) void shape(StereoShaper *shaper, const int32_t curve, float *left,
                                                        float *right, const float *bias, int32_t factor,
                                                        int32_t count) {
  StereoShaper local = *shaper;
  for (int32_t frame = 0; frame < count; frame++) {
    const StereoVector offset = {bias[frame], bias[frame]};
    const StereoVector rest = backline_shaper_rest(curve, offset);
    for (int32_t i = frame * factor; i < (frame + 1) * factor; i++) {
      const StereoVector x = backline_stereo_load(left + i, right + i) + offset;
      backline_stereo_store(backline_shaper_next(&local, curve, x) - rest, left + i, right + i);
    }
  }
  *shaper = local;
}

void backline_shape(StereoShaper *shaper, int32_t curve, float *left, float *right, const float *bias, int32_t factor,
                    int32_t count) {
  // A loop of its own for each curve.
  switch (curve) {
  case BacklineCurveSoft: return shape(shaper, BacklineCurveSoft, left, right, bias, factor, count);
  case BacklineCurveWarm: return shape(shaper, BacklineCurveWarm, left, right, bias, factor, count);
  case BacklineCurveDiode: return shape(shaper, BacklineCurveDiode, left, right, bias, factor, count);
  case BacklineCurveHard: return shape(shaper, BacklineCurveHard, left, right, bias, factor, count);
  case BacklineCurveFuzz: return shape(shaper, BacklineCurveFuzz, left, right, bias, factor, count);
  default: return shape(shaper, BacklineCurveRectifier, left, right, bias, factor, count);
  }
}
