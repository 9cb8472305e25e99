// The step of the tape's magnetisation for both channels at once, in the two lanes of a vector: without branches, since the
// sign of a field cannot be foreseen.
#pragma once

#include <stdint.h>

#include "StereoVector.h"

typedef int64_t BacklineStereoBits __attribute__((ext_vector_type(2)));

/// `yes` where the mask is set, else `no`.
static inline StereoVector backline_stereo_choose(BacklineStereoBits mask, StereoVector yes, StereoVector no) {
  return (StereoVector)(((BacklineStereoBits)yes & mask) | ((BacklineStereoBits)no & ~mask));
}

/// 2^x for x from -120 to 0, within 2e-7 of the result: Taylor's series to the sixth order around the nearest whole number.
static inline StereoVector backline_stereo_exp2(StereoVector x) {
#pragma STDC FP_CONTRACT OFF
  // Adding 1.5 · 2^52 rounds to a whole number, held in the low bits.
  const double magic = 6755399441055744.0;
  const StereoVector rounded = x + magic;
  const StereoVector f = (x - (rounded - magic)) * 0.6931471805599453;
  StereoVector p = f * (1.0 / 720) + 1.0 / 120;
  p = p * f + 1.0 / 24;
  p = p * f + 1.0 / 6;
  p = p * f + 0.5;
  p = p * f + 1.0;
  p = p * f + 1.0;
  const BacklineStereoBits exponent = ((BacklineStereoBits)rounded - 0x4338000000000000 + 1023) << 52;
  return p * (StereoVector)exponent;
}

/// dM/dH of Jiles and Atherton with a saturation of 1, a shape of 1/3, a pinning of 0.35 and a coupling of 0.0016.
static inline StereoVector backline_tape_slope(StereoVector field, StereoVector magnetisation, StereoVector direction,
                                               double reversible) {
#pragma STDC FP_CONTRACT OFF
  const double coupling = 1.6e-3, pinning = 0.35, inverseShape = 3;
  const StereoVector x = (field + coupling * magnetisation) * inverseShape;
  const StereoVector magnitude = __builtin_elementwise_max(__builtin_elementwise_abs(x), (StereoVector){1e-9, 1e-9});
  const StereoVector square = x * x;
  // coth x - 1/x by its series, where the difference would lose its digits, and by its definition elsewhere.
  StereoVector p = -square * (2.0 / 93555) + 1.0 / 4725;
  p = -square * p + 2.0 / 945;
  p = -square * p + 1.0 / 45;
  p = -square * p + 1.0 / 3;
  const StereoVector seriesValue = magnitude * p;
  StereoVector q = -square * (2.0 / 10395) + 1.0 / 675;
  q = -square * q + 2.0 / 189;
  q = -square * q + 1.0 / 15;
  q = -square * q + 1.0 / 3;
  const StereoVector limited = __builtin_elementwise_min(magnitude, (StereoVector){40, 40});
  const StereoVector power = backline_stereo_exp2(limited * (-2 * 1.4426950408889634));
  const StereoVector quotient = 1.0 / (magnitude * (1.0 - power));
  const StereoVector inverse = quotient * (1.0 - power);
  const StereoVector value = (1.0 + power) * magnitude * quotient - inverse;
  const BacklineStereoBits isSmall = magnitude < 0.7;
  const StereoVector size = backline_stereo_choose(isSmall, seriesValue, value);
  const StereoVector derivative =
      backline_stereo_choose(isSmall, q, 1.0 - value * value - 2.0 * value * inverse);
  const StereoVector langevin = __builtin_elementwise_copysign(size, x);

  const StereoVector distance = langevin - magnetisation;
  const double irreversible = 1 - reversible;
  // Where the field has turned, the walls stay until the curve is met again.
  const StereoVector moves =
      backline_stereo_choose(distance * direction > 0.0, (StereoVector){1, 1}, (StereoVector){0, 0});
  const StereoVector pinned = irreversible * pinning * direction - coupling * distance;
  const StereoVector bend = reversible * inverseShape * derivative;
  return (moves * irreversible * distance + bend * pinned) / (pinned * (1.0 - coupling * bend));
}

/// The field and magnetisation of both channels.
typedef struct BacklineTape {
  StereoVector field, magnetisation;
} BacklineTape;

/// Takes the next field strengths, held to ±50, by the midpoint rule.
REALTIME_SAFE static inline BacklineTape backline_tape_step(BacklineTape tape, StereoVector strength,
                                                            double reversible) {
#pragma STDC FP_CONTRACT OFF
  const StereoVector most = {50, 50}, full = {1.2, 1.2};
  const StereoVector target = __builtin_elementwise_max(__builtin_elementwise_min(strength, most), -most);
  const StereoVector step = target - tape.field;
  const StereoVector direction = backline_stereo_choose(step < 0.0, (StereoVector){-1, -1}, (StereoVector){1, 1});
  const StereoVector half = 0.5 * step;
  const StereoVector first = backline_tape_slope(tape.field, tape.magnetisation, direction, reversible);
  const StereoVector middle =
      backline_tape_slope(tape.field + half, tape.magnetisation + half * first, direction, reversible);
  const StereoVector next = tape.magnetisation + step * middle;
  BacklineTape after = {target, __builtin_elementwise_max(__builtin_elementwise_min(next, full), -full)};
  return after;
}
