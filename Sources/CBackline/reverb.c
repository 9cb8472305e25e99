#include "ReverbKernel.h"

#include "vectors.h"

#pragma STDC FP_CONTRACT OFF

typedef float Two __attribute__((ext_vector_type(2)));
typedef int32_t EightInts __attribute__((ext_vector_type(8)));

enum { lines = BacklineReverbLines, block = BacklineBlockFrames, fractionBits = 20 };

// MARK: Before the lines

static ALWAYS_INLINE void backline_reverb_take_body(BlockRings *rings, const float *left, const float *right,
                                                    float limit, int32_t frames) {
  for (int32_t channel = 0; channel < 2; channel++) {
    const float *from = channel == 0 ? left : right;
    float *to = backline_rings_end(rings, channel);
    for (int32_t n = 0; n < frames; n += 8) {
      const Eight x = LOAD_SOME(from + n, frames - n);
      const Eight low = x > -limit ? x : (Eight)(-limit);
      STORE_EIGHT(to + n, low < limit ? low : (Eight)(limit));
    }
    backline_rings_close(rings, channel, frames);
  }
  backline_rings_advance(rings, frames);
}

WIDE_FUNCTION(backline_reverb_take,
              (BlockRings * rings, const float *left, const float *right, float limit, int32_t frames),
              (rings, left, right, limit, frames))

static ALWAYS_INLINE void backline_reverb_delayed_body(const BlockRings *rings, int32_t delay, float *left,
                                                       float *right, int32_t frames) {
  float scratch[block + 8];
  const int64_t age = (int64_t)delay + frames;
  for (int32_t channel = 0; channel < 2; channel++) {
    const float *from = backline_rings_past(rings, channel, age, scratch, frames);
    float *to = channel == 0 ? left : right;
    for (int32_t n = 0; n < frames; n += 8) STORE_EIGHT(to + n, LOAD_EIGHT(from + n));
  }
}

WIDE_FUNCTION(backline_reverb_delayed,
              (const BlockRings *rings, int32_t delay, float *left, float *right, int32_t frames),
              (rings, delay, left, right, frames))

void backline_reverb_band(float *left, float *right, const float *highPass, const float *lowPass, float *state,
                          int32_t frames) {
  Two low = {state[0], state[1]}, high = {state[2], state[3]};
  for (int32_t n = 0; n < frames; n++) {
    const Two x = {left[n], right[n]};
    // Only the last sum waits for the frame before.
    const float lowStep = highPass[n] + highPass[n], highStep = lowPass[n] + lowPass[n];
    const Two kept = x - (low + (x - low) * highPass[n]);
    low = low * (1 - lowStep) + x * lowStep;
    const Two y = high + (kept - high) * lowPass[n];
    high = high * (1 - highStep) + kept * highStep;
    left[n] = y[0];
    right[n] = y[1];
  }
  state[0] = low[0], state[1] = low[1], state[2] = high[0], state[3] = high[1];
}

static ALWAYS_INLINE void backline_reverb_diffuse_body(const BlockRings *rings, int32_t ring, int32_t leftDelay,
                                                       int32_t rightDelay, const float *coefficients, float *left,
                                                       float *right, int32_t frames) {
  float scratch[block + 8];
  for (int32_t channel = 0; channel < 2; channel++) {
    float *signal = channel == 0 ? left : right;
    const float *from =
        backline_rings_past(rings, ring + channel, channel == 0 ? leftDelay : rightDelay, scratch, frames);
    float *to = backline_rings_end(rings, ring + channel);
    for (int32_t n = 0; n < frames; n += 8) {
      const Eight delayed = LOAD_EIGHT(from + n), coefficient = LOAD_EIGHT(coefficients + n);
      const Eight inner = LOAD_EIGHT(signal + n) - delayed * coefficient;
      STORE_EIGHT(to + n, inner);
      STORE_EIGHT(signal + n, delayed + inner * coefficient);
    }
    backline_rings_close(rings, ring + channel, frames);
  }
}

WIDE_FUNCTION(backline_reverb_diffuse,
              (const BlockRings *rings, int32_t ring, int32_t leftDelay, int32_t rightDelay, const float *coefficients,
               float *left, float *right, int32_t frames),
              (rings, ring, leftDelay, rightDelay, coefficients, left, right, frames))

// MARK: The lines' ends

/// The sample that stands `at` frames after the end of the ring, which is in the past where that is negative.
static ALWAYS_INLINE float sample_at(const BlockRings *rings, int32_t line, int64_t at) {
  if (at < -rings->written) return 0;
  return rings->samples[line * rings->stride + backline_rings_place(rings, at)];
}

/// What lies between `s1` (fraction 1) and `s2` (fraction 0).
#define CUBIC(s0, s1, s2, s3, t)                                                                                       \
  ({                                                                                                                   \
    const Eight third = ((s0) - (s3)) * (1.0f / 6) + ((s2) - (s1)) * 0.5f;                                             \
    const Eight second = ((s1) + (s3)) * 0.5f - (s2);                                                                  \
    const Eight first = ((s1) - (s2) * 0.5f) - ((s0) + (s3) + (s3)) * (1.0f / 6);                                      \
    (s2) + (first + (second + third * (t)) * (t)) * (t);                                                               \
  })

static ALWAYS_INLINE void backline_reverb_read_body(const BlockRings *rings, const int32_t *lengths,
                                                    const int32_t *offsets, const int32_t *steps, float *sound,
                                                    int32_t frames) {
  const EightInts numbers = {0, 1, 2, 3, 4, 5, 6, 7};
  // The last frame of the last vector, whether it counts or not.
  const int32_t last = (frames - 1) | 7;
  for (int32_t line = 0; line < lines; line++) {
    float *to = sound + line * block;
    const int32_t length = lengths[line], offset = offsets[line], step = steps[line];
    const int32_t whole = offset >> fractionBits;
    const bool isSteady = whole == (offset + last * step) >> fractionBits && length + whole + 2 <= rings->written;
    const float *from = rings->samples + line * rings->stride + backline_rings_place(rings, -length - whole - 2);
    if (isSteady && offset == 0 && step == 0) {
      for (int32_t n = 0; n < frames; n += 8) STORE_EIGHT(to + n, LOAD_EIGHT(from + n + 2));
      continue;
    }
    for (int32_t n = 0; n < frames; n += 8) {
      Eight s0, s1, s2, s3;
      if (isSteady) {
        s0 = LOAD_EIGHT(from + n), s1 = LOAD_EIGHT(from + n + 1);
        s2 = LOAD_EIGHT(from + n + 2), s3 = LOAD_EIGHT(from + n + 3);
      } else {
        for (int32_t i = 0; i < 8; i++) {
          const int64_t at = n + i - length - ((offset + (n + i) * step) >> fractionBits);
          s0[i] = sample_at(rings, line, at - 2), s1[i] = sample_at(rings, line, at - 1);
          s2[i] = sample_at(rings, line, at), s3[i] = sample_at(rings, line, at + 1);
        }
      }
      const EightInts all = (offset + n * step) + numbers * step;
      const Eight t = __builtin_convertvector(all & ((1 << fractionBits) - 1), Eight) * 0x1p-20f;
      STORE_EIGHT(to + n, CUBIC(s0, s1, s2, s3, t));
    }
  }
}

WIDE_FUNCTION(backline_reverb_read,
              (const BlockRings *rings, const int32_t *lengths, const int32_t *offsets, const int32_t *steps,
               float *sound, int32_t frames),
              (rings, lengths, offsets, steps, sound, frames))

static ALWAYS_INLINE void backline_reverb_fade_body(float *sound, const float *from, const float *weights,
                                                    int32_t frames) {
  for (int32_t line = 0; line < lines; line++) {
    for (int32_t n = 0; n < frames; n += 8) {
      const Eight old = LOAD_EIGHT(from + line * block + n), new = LOAD_EIGHT(sound + line * block + n);
      STORE_EIGHT(sound + line * block + n, old + (new - old) * LOAD_EIGHT(weights + n));
    }
  }
}

WIDE_FUNCTION(backline_reverb_fade, (float *sound, const float *from, const float *weights, int32_t frames),
              (sound, from, weights, frames))

// The signs of the outputs are bent functions of the line's number, orthogonal to each other: they correlate alike with every
// row of the matrix, so that no line's input is heard again as a whole. Left goes into the even lines, right into the odd ones.
static const float leftOut[lines] = {1, 1, 1, -1, 1, 1, 1, -1, 1, 1, 1, -1, -1, -1, -1, 1};
static const float rightOut[lines] = {1, -1, 1, 1, 1, -1, 1, 1, -1, 1, -1, -1, 1, -1, 1, 1};
static const float in[lines] = {1, 1, 1, -1, 1, 1, -1, 1, 1, 1, -1, 1, 1, -1, 1, 1};

static ALWAYS_INLINE void backline_reverb_listen_body(const float *sound, float *left, float *right, int32_t frames) {
  for (int32_t n = 0; n < frames; n += 8) {
    Eight l = 0, r = 0;
    UNROLLED for (int32_t line = 0; line < lines; line++) {
      const Eight end = LOAD_EIGHT(sound + line * block + n);
      l = leftOut[line] > 0 ? l + end : l - end;
      r = rightOut[line] > 0 ? r + end : r - end;
    }
    STORE_EIGHT(left + n, l);
    STORE_EIGHT(right + n, r);
  }
}

WIDE_FUNCTION(backline_reverb_listen, (const float *sound, float *left, float *right, int32_t frames),
              (sound, left, right, frames))

// MARK: The lines' beginnings

/// The shelves of all lines over some frames, `count` of which count; a frame is two vectors.
#define SHELVE(count)                                                                                                  \
  for (int32_t k = 0; k < (count); k++) {                                                                              \
    const Eight xLow = low[k], xHigh = high[k];                                                                        \
    yLow = (b0Low * xLow + b1Low * x1Low) - a1Low * yLow;                                                              \
    yHigh = (b0High * xHigh + b1High * x1High) - a1High * yHigh;                                                       \
    x1Low = xLow;                                                                                                      \
    x1High = xHigh;                                                                                                    \
    if (isMoving) {                                                                                                    \
      b0Low += LOAD_EIGHT(s->b0Step), b0High += LOAD_EIGHT(s->b0Step + 8);                                             \
      b1Low += LOAD_EIGHT(s->b1Step), b1High += LOAD_EIGHT(s->b1Step + 8);                                             \
      a1Low += LOAD_EIGHT(s->a1Step), a1High += LOAD_EIGHT(s->a1Step + 8);                                             \
    }                                                                                                                  \
    low[k] = yLow;                                                                                                     \
    high[k] = yHigh;                                                                                                   \
  }

/// The Hadamard transform of eight lines.
#define MIX_EIGHT(v)                                                                                                   \
  UNROLLED for (int apart = 1; apart < 8; apart *= 2) {                                                                \
    UNROLLED for (int i = 0; i < 8; i++) {                                                                             \
      if (i & apart) continue;                                                                                         \
      const Eight a = v[i], b = v[i + apart];                                                                          \
      v[i] = a + b;                                                                                                    \
      v[i + apart] = a - b;                                                                                            \
    }                                                                                                                  \
  }

static ALWAYS_INLINE void write_lines(BlockRings *rings, const float *sound, ReverbShelves *s, const bool isMoving,
                                      const float *left, const float *right, const float *injection, int32_t frames) {
  Eight b0Low = LOAD_EIGHT(s->b0), b0High = LOAD_EIGHT(s->b0 + 8), b1Low = LOAD_EIGHT(s->b1),
        b1High = LOAD_EIGHT(s->b1 + 8), a1Low = LOAD_EIGHT(s->a1), a1High = LOAD_EIGHT(s->a1 + 8);
  Eight x1Low = LOAD_EIGHT(s->x1), x1High = LOAD_EIGHT(s->x1 + 8), yLow = LOAD_EIGHT(s->y1),
        yHigh = LOAD_EIGHT(s->y1 + 8);
  float *to[lines];
  for (int32_t line = 0; line < lines; line++) to[line] = backline_rings_end(rings, line);
  for (int32_t n = 0; n < frames; n += 8) {
    Eight low[8], high[8];
    UNROLLED for (int32_t i = 0; i < 8; i++) {
      low[i] = LOAD_EIGHT(sound + i * block + n);
      high[i] = LOAD_EIGHT(sound + (i + 8) * block + n);
    }
    TRANSPOSE_EIGHT(low);
    TRANSPOSE_EIGHT(high);
    if (frames - n >= 8) {
      UNROLLED SHELVE(8)
    } else {
      SHELVE(frames - n)
    }
    TRANSPOSE_EIGHT(low);
    TRANSPOSE_EIGHT(high);
    // The fast Hadamard transform: sums and differences of lines that are 1, 2, 4 and 8 apart.
    MIX_EIGHT(low);
    MIX_EIGHT(high);
    const Eight share = LOAD_EIGHT(injection + n) * 0.3535534f;
    const Eight l = LOAD_EIGHT(left + n) * share, r = LOAD_EIGHT(right + n) * share;
    UNROLLED for (int32_t i = 0; i < 8; i++) {
      const Eight added = i % 2 == 0 ? l : r;
      const Eight sum = low[i] + high[i], difference = low[i] - high[i];
      STORE_EIGHT(to[i] + n, in[i] > 0 ? sum + added : sum - added);
      STORE_EIGHT(to[i + 8] + n, in[i + 8] > 0 ? difference + added : difference - added);
    }
  }
  if (isMoving) {
    STORE_EIGHT(s->b0, b0Low), STORE_EIGHT(s->b0 + 8, b0High), STORE_EIGHT(s->b1, b1Low);
    STORE_EIGHT(s->b1 + 8, b1High), STORE_EIGHT(s->a1, a1Low), STORE_EIGHT(s->a1 + 8, a1High);
  }
  STORE_EIGHT(s->x1, x1Low), STORE_EIGHT(s->x1 + 8, x1High), STORE_EIGHT(s->y1, yLow), STORE_EIGHT(s->y1 + 8, yHigh);
  for (int32_t line = 0; line < lines; line++) backline_rings_close(rings, line, frames);
  backline_rings_advance(rings, frames);
}

static ALWAYS_INLINE void backline_reverb_write_body(BlockRings *rings, const float *sound, ReverbShelves *shelves,
                                                     bool isMoving, const float *left, const float *right,
                                                     const float *injection, int32_t frames) {
  if (isMoving) write_lines(rings, sound, shelves, true, left, right, injection, frames);
  else write_lines(rings, sound, shelves, false, left, right, injection, frames);
}

WIDE_FUNCTION(backline_reverb_write,
              (BlockRings * rings, const float *sound, ReverbShelves *shelves, bool isMoving, const float *left,
               const float *right, const float *injection, int32_t frames),
              (rings, sound, shelves, isMoving, left, right, injection, frames))

// MARK: After the lines

static ALWAYS_INLINE void backline_reverb_mix_body(const float *left, const float *right, const float *wetLeft,
                                                   const float *wetRight, const float *mix, const float *width,
                                                   float *toLeft, float *toRight, int32_t frames) {
  for (int32_t n = 0; n < frames; n += 8) {
    const int32_t count = frames - n;
    const Eight l = LOAD_EIGHT(wetLeft + n), r = LOAD_EIGHT(wetRight + n);
    const Eight wet = LOAD_EIGHT(mix + n), dry = 1 - wet;
    const Eight middle = (l + r) * 0.5f, side = (l - r) * 0.5f * LOAD_EIGHT(width + n);
    STORE_SOME(toLeft + n, LOAD_SOME(left + n, count) * dry + (middle + side) * wet, count);
    STORE_SOME(toRight + n, LOAD_SOME(right + n, count) * dry + (middle - side) * wet, count);
  }
}

WIDE_FUNCTION(backline_reverb_mix,
              (const float *left, const float *right, const float *wetLeft, const float *wetRight, const float *mix,
               const float *width, float *toLeft, float *toRight, int32_t frames),
              (left, right, wetLeft, wetRight, mix, width, toLeft, toRight, frames))

static ALWAYS_INLINE void backline_reverb_approach_body(float *to, const float *from, const float *weights,
                                                        int32_t frames) {
  for (int32_t n = 0; n < frames; n += 8) {
    const Eight old = LOAD_EIGHT(to + n);
    STORE_EIGHT(to + n, old + (LOAD_EIGHT(from + n) - old) * LOAD_EIGHT(weights + n));
  }
}

WIDE_FUNCTION(backline_reverb_approach, (float *to, const float *from, const float *weights, int32_t frames),
              (to, from, weights, frames))
