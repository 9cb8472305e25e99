#include "SectionCascade.h"

#pragma STDC FP_CONTRACT OFF

typedef double FourLanes __attribute__((ext_vector_type(4)));

// Each section lags by this many frames behind the one before.
enum { lag = 2 };

/// One section over some frames.
static inline __attribute__((always_inline)) void run_one(StereoSection *section, const StereoVector *from,
                                                          StereoVector *to, int32_t frames) {
  StereoSection s = *section;
  for (int32_t n = 0; n < frames; n++) {
    const StereoVector x = from[n];
    const StereoVector y = backline_stereo_biquad(s.coefficients, x, s.x1, s.x2, s.y1, s.y2);
    s.x2 = s.x1;
    s.x1 = x;
    s.y2 = s.y1;
    s.y1 = y;
    to[n] = y;
  }
  section->x1 = s.x1;
  section->x2 = s.x2;
  section->y1 = s.y1;
  section->y2 = s.y2;
}

// Two sections in one vector: the first in the lower lanes.
#define PAIR(first, second, field) __builtin_shufflevector((first)->field, (second)->field, 0, 1, 2, 3)
#define LOWER(vector) __builtin_shufflevector(vector, vector, 0, 1)
#define UPPER(vector) __builtin_shufflevector(vector, vector, 2, 3)

#define LOAD_PAIR(name, first, second)                                                                                 \
  const FourLanes b0##name = PAIR(first, second, coefficients.b0), b1##name = PAIR(first, second, coefficients.b1),    \
                  b2##name = PAIR(first, second, coefficients.b2), a1##name = PAIR(first, second, coefficients.a1),    \
                  a2##name = PAIR(first, second, coefficients.a2);                                                     \
  FourLanes x1##name = PAIR(first, second, x1), x2##name = PAIR(first, second, x2),                                    \
            y1##name = PAIR(first, second, y1), y2##name = PAIR(first, second, y2);

#define NEXT_PAIR(name, x)                                                                                             \
  ((b0##name * (x) + (b1##name * x1##name + b2##name * x2##name)) - a2##name * y2##name) - a1##name * y1##name

#define SHIFT_PAIR(name, x, y)                                                                                         \
  x2##name = x1##name;                                                                                                 \
  x1##name = (x);                                                                                                      \
  y2##name = y1##name;                                                                                                 \
  y1##name = (y);

#define STORE_PAIR(name, first, second)                                                                                \
  (first)->x1 = LOWER(x1##name), (first)->x2 = LOWER(x2##name), (first)->y1 = LOWER(y1##name);                         \
  (first)->y2 = LOWER(y2##name), (second)->x1 = UPPER(x1##name), (second)->x2 = UPPER(x2##name);                       \
  (second)->y1 = UPPER(y1##name), (second)->y2 = UPPER(y2##name);

/// Two sections side by side.
static inline __attribute__((always_inline)) void run_two(StereoSection *s0, StereoSection *s1, StereoVector *samples,
                                                          int32_t frames) {
  StereoVector head[lag];
  for (int32_t n = 0; n < lag; n++) head[n] = samples[n];
  run_one(s0, head, head, lag);
  {
    LOAD_PAIR(A, s0, s1)
    for (int32_t n = lag; n < frames; n++) {
      const StereoVector x = samples[n];
      // The output of the first section two frames ago is the second's input now.
      const FourLanes both = __builtin_shufflevector(x, x, 0, 1, 0, 1);
      const FourLanes in = __builtin_shufflevector(both, y2A, 0, 1, 4, 5);
      const FourLanes y = NEXT_PAIR(A, in);
      SHIFT_PAIR(A, in, y)
      samples[n - lag] = UPPER(y);
    }
    STORE_PAIR(A, s0, s1)
  }
  const StereoVector rest[lag] = {s0->y2, s0->y1};
  run_one(s1, rest, samples + frames - lag, lag);
}

/// Four sections side by side.
static inline __attribute__((always_inline)) void run_four(StereoSection *s0, StereoSection *s1, StereoSection *s2,
                                                           StereoSection *s3, StereoVector *samples, int32_t frames) {
  StereoVector head[3 * lag];
  for (int32_t n = 0; n < 3 * lag; n++) head[n] = samples[n];
  run_one(s0, head, head, 3 * lag);
  run_one(s1, head, head, 2 * lag);
  run_one(s2, head, head, lag);
  {
    LOAD_PAIR(A, s0, s1)
    LOAD_PAIR(B, s2, s3)
    for (int32_t n = 3 * lag; n < frames; n++) {
      const StereoVector x = samples[n];
      const FourLanes both = __builtin_shufflevector(x, x, 0, 1, 0, 1);
      const FourLanes inA = __builtin_shufflevector(both, y2A, 0, 1, 4, 5);
      const FourLanes inB = __builtin_shufflevector(y2A, y2B, 2, 3, 4, 5);
      const FourLanes yA = NEXT_PAIR(A, inA);
      const FourLanes yB = NEXT_PAIR(B, inB);
      SHIFT_PAIR(A, inA, yA)
      SHIFT_PAIR(B, inB, yB)
      samples[n - 3 * lag] = UPPER(yB);
    }
    STORE_PAIR(A, s0, s1)
    STORE_PAIR(B, s2, s3)
  }
  // The later a section, the more frames it is behind.
  const StereoVector first[lag] = {s0->y2, s0->y1};
  StereoVector second[2 * lag] = {s1->y2, s1->y1}, third[3 * lag] = {s2->y2, s2->y1};
  run_one(s1, first, second + lag, lag);
  run_one(s2, second, third + lag, 2 * lag);
  run_one(s3, third, samples + frames - 3 * lag, 3 * lag);
}

static inline __attribute__((always_inline)) void run_all(StereoSection *sections, const uint8_t *order, int32_t count,
                                                          StereoVector *samples, int32_t frames) {
  int32_t i = 0;
  if (frames > 4 * lag) {
    for (; i + 4 <= count; i += 4) {
      run_four(sections + order[i], sections + order[i + 1], sections + order[i + 2], sections + order[i + 3], samples,
               frames);
    }
    for (; i + 2 <= count; i += 2) run_two(sections + order[i], sections + order[i + 1], samples, frames);
  }
  for (; i < count; i++) run_one(sections + order[i], samples, samples, frames);
}

#if defined(__x86_64__)
// Registers of twice the width where the processor has them: the same operations, so the same bits.
__attribute__((target("avx"))) static void run_all_wide(StereoSection *sections, const uint8_t *order, int32_t count,
                                                        StereoVector *samples, int32_t frames) {
  run_all(sections, order, count, samples, frames);
}
#endif

void backline_sections_run(StereoSection *sections, const uint8_t *order, int32_t count, StereoVector *samples,
                           int32_t frames) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx")) {
    run_all_wide(sections, order, count, samples, frames);
    return;
  }
#endif
  run_all(sections, order, count, samples, frames);
}

SectionPairs backline_section_pairs(StereoBiquad c) {
  const StereoVector none = {0, 0};
  const SectionPairs pairs = {c.a1 * c.a1 - c.a2, c.a1 * c.a2, none, none, 0};
  return pairs;
}

// The output without its recursion.
#define FORWARD(c, x, x1, x2) ((c).b0 * (x) + ((c).b1 * (x1) + (c).b2 * (x2)))

/// Two frames from `x` to `y`.
static inline __attribute__((always_inline)) void run_pair(StereoSection *s, const SectionPairs *pairs,
                                                           const StereoVector *x, StereoVector *y) {
  const StereoVector first = FORWARD(s->coefficients, x[0], s->x1, s->x2);
  const StereoVector second = FORWARD(s->coefficients, x[1], x[0], s->x1) - s->coefficients.a1 * first;
  const StereoVector y0 = (first - s->coefficients.a2 * s->y2) - s->coefficients.a1 * s->y1;
  const StereoVector y1 = (second + pairs->c2 * s->y2) + pairs->c1 * s->y1;
  s->x2 = x[0];
  s->x1 = x[1];
  s->y2 = y0;
  s->y1 = y1;
  y[0] = backline_stereo_limit(y0);
  y[1] = backline_stereo_limit(y1);
}

/// One frame: the first of a pair, or the second after `run_pair`'s arithmetic where its first was run alone.
static StereoVector run_half(StereoSection *s, SectionPairs *pairs, int isOdd, StereoVector x) {
  const StereoVector forward = FORWARD(s->coefficients, x, s->x1, s->x2);
  StereoVector y;
  if (isOdd && pairs->isHalf) {
    y = ((forward - s->coefficients.a1 * pairs->u) + pairs->c2 * pairs->y2) + pairs->c1 * s->y2;
  } else {
    y = (forward - s->coefficients.a2 * s->y2) - s->coefficients.a1 * s->y1;
  }
  pairs->isHalf = !isOdd;
  pairs->u = forward;
  pairs->y2 = s->y2;
  s->x2 = s->x1;
  s->x1 = x;
  s->y2 = s->y1;
  s->y1 = y;
  return backline_stereo_limit(y);
}

typedef float FourSamples __attribute__((ext_vector_type(4), aligned(4)));

void backline_section_run(StereoSection *section, SectionPairs *pairs, int32_t isOdd, const float *left,
                          const float *right, float *toLeft, float *toRight, int32_t frames) {
  StereoSection s = *section;
  int32_t n = 0;
  if (isOdd && n < frames) {
    backline_stereo_store(run_half(&s, pairs, 1, backline_stereo_load(left, right)), toLeft, toRight);
    n = 1;
  }
  // Two pairs a turn, since four samples of a channel are converted at once.
  for (; n + 4 <= frames; n += 4) {
    const FourSamples l = *(const FourSamples *)(left + n), r = *(const FourSamples *)(right + n);
    const FourLanes early = __builtin_convertvector(__builtin_shufflevector(l, r, 0, 4, 1, 5), FourLanes);
    const FourLanes late = __builtin_convertvector(__builtin_shufflevector(l, r, 2, 6, 3, 7), FourLanes);
    const StereoVector x[4] = {LOWER(early), UPPER(early), LOWER(late), UPPER(late)};
    StereoVector y[4];
    run_pair(&s, pairs, x, y);
    run_pair(&s, pairs, x + 2, y + 2);
    const FourSamples first =
        __builtin_convertvector(__builtin_shufflevector(y[0], y[1], 0, 1, 2, 3), FourSamples);
    const FourSamples second =
        __builtin_convertvector(__builtin_shufflevector(y[2], y[3], 0, 1, 2, 3), FourSamples);
    *(FourSamples *)(toLeft + n) = __builtin_shufflevector(first, second, 0, 2, 4, 6);
    *(FourSamples *)(toRight + n) = __builtin_shufflevector(first, second, 1, 3, 5, 7);
  }
  for (; n + 2 <= frames; n += 2) {
    const StereoVector x[2] = {backline_stereo_load(left + n, right + n),
                               backline_stereo_load(left + n + 1, right + n + 1)};
    StereoVector y[2];
    run_pair(&s, pairs, x, y);
    for (int k = 0; k < 2; k++) backline_stereo_store(y[k], toLeft + n + k, toRight + n + k);
  }
  if (n < frames) {
    const StereoVector y = run_half(&s, pairs, 0, backline_stereo_load(left + n, right + n));
    backline_stereo_store(y, toLeft + n, toRight + n);
  }
  *section = s;
}

void backline_section_run_moving(StereoSection *section, const StereoBiquad *step, StereoVector *samples,
                                 int32_t frames) {
  StereoSection s = *section;
  const StereoBiquad change = *step;
  for (int32_t n = 0; n < frames; n++) {
    const StereoVector x = samples[n];
    const StereoVector y = backline_stereo_biquad(s.coefficients, x, s.x1, s.x2, s.y1, s.y2);
    s.coefficients = backline_stereo_advance(s.coefficients, change);
    s.x2 = s.x1;
    s.x1 = x;
    s.y2 = s.y1;
    s.y1 = y;
    samples[n] = y;
  }
  *section = s;
}

void backline_stereo_widen(const float *left, const float *right, StereoVector *to, int32_t frames) {
  for (int32_t n = 0; n < frames; n++) to[n] = backline_stereo_load(left + n, right + n);
}

void backline_stereo_narrow(const StereoVector *from, float *left, float *right, int32_t frames) {
  for (int32_t n = 0; n < frames; n++) backline_stereo_store(backline_stereo_limit(from[n]), left + n, right + n);
}
