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

static ALWAYS_INLINE void backline_reverb_diffuse_body(BlockRings *rings, const int32_t *delays,
                                                       const float *coefficients, float *left, float *right,
                                                       int32_t frames) {
  float scratch[block + 8];
  for (int32_t ring = 0; ring < BacklineDiffuserRings; ring++) {
    float *signal = ring % 2 == 0 ? left : right;
    const float *factors = coefficients + ring / 2 * block;
    const float *from = backline_rings_past(rings, ring, delays[ring], scratch, frames);
    float *to = backline_rings_end(rings, ring);
    for (int32_t n = 0; n < frames; n += 8) {
      const Eight delayed = LOAD_EIGHT(from + n), factor = LOAD_EIGHT(factors + n);
      const Eight inner = LOAD_EIGHT(signal + n) - delayed * factor;
      STORE_EIGHT(to + n, inner);
      STORE_EIGHT(signal + n, delayed + inner * factor);
    }
    backline_rings_close(rings, ring, frames);
  }
  backline_rings_advance(rings, frames);
}

WIDE_FUNCTION(backline_reverb_diffuse,
              (BlockRings * rings, const int32_t *delays, const float *coefficients, float *left, float *right,
               int32_t frames),
              (rings, delays, coefficients, left, right, frames))

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
                                                    const float **ends, int32_t frames) {
  const EightInts numbers = {0, 1, 2, 3, 4, 5, 6, 7};
  int32_t moved = 0, longest = 0;
  for (int32_t line = 0; line < lines; line++) {
    moved |= offsets[line] | steps[line];
    longest = lengths[line] > longest ? lengths[line] : longest;
  }
  if (moved == 0 && longest + 2 <= rings->written) {
    for (int32_t line = 0; line < lines; line++) {
      ends[line] = rings->samples + line * rings->stride + backline_rings_place(rings, -lengths[line]);
    }
    return;
  }
  // The last frame of the last vector, whether it counts or not.
  const int32_t last = (frames - 1) | 7;
  for (int32_t line = 0; line < lines; line++) {
    float *to = sound + line * block;
    const int32_t length = lengths[line], offset = offsets[line], step = steps[line];
    const int32_t whole = offset >> fractionBits;
    const bool isSteady = whole == (offset + last * step) >> fractionBits && length + whole + 2 <= rings->written;
    const float *from = rings->samples + line * rings->stride + backline_rings_place(rings, -length - whole - 2);
    ends[line] = to;
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
               float *sound, const float **ends, int32_t frames),
              (rings, lengths, offsets, steps, sound, ends, frames))

static ALWAYS_INLINE void backline_reverb_fade_body(float *sound, const float **ends, const float *const *from,
                                                    const float *weights, int32_t frames) {
  for (int32_t line = 0; line < lines; line++) {
    float *to = sound + line * block;
    for (int32_t n = 0; n < frames; n += 8) {
      const Eight old = LOAD_EIGHT(from[line] + n), new = LOAD_EIGHT(ends[line] + n);
      STORE_EIGHT(to + n, old + (new - old) * LOAD_EIGHT(weights + n));
    }
    ends[line] = to;
  }
}

WIDE_FUNCTION(backline_reverb_fade,
              (float *sound, const float **ends, const float *const *from, const float *weights, int32_t frames),
              (sound, ends, from, weights, frames))

// The signs of the outputs are bent functions of the line's number, orthogonal to each other: they correlate alike with every
// row of the matrix, so that no line's input is heard again as a whole. Left goes into the even lines, right into the odd ones.
static const float leftOut[lines] = {1, 1, 1, -1, 1, 1, 1, -1, 1, 1, 1, -1, -1, -1, -1, 1};
static const float rightOut[lines] = {1, -1, 1, 1, 1, -1, 1, 1, -1, 1, -1, -1, 1, -1, 1, 1};
static const float in[lines] = {1, 1, 1, -1, 1, 1, -1, 1, 1, 1, -1, 1, 1, -1, 1, 1};

static ALWAYS_INLINE void backline_reverb_listen_body(const float *const *ends, float *left, float *right,
                                                      int32_t frames) {
  for (int32_t n = 0; n < frames; n += 8) {
    Eight l = 0, r = 0;
    UNROLLED for (int32_t line = 0; line < lines; line++) {
      const Eight end = LOAD_EIGHT(ends[line] + n);
      l = leftOut[line] > 0 ? l + end : l - end;
      r = rightOut[line] > 0 ? r + end : r - end;
    }
    STORE_EIGHT(left + n, l);
    STORE_EIGHT(right + n, r);
  }
}

WIDE_FUNCTION(backline_reverb_listen, (const float *const *ends, float *left, float *right, int32_t frames),
              (ends, left, right, frames))

// MARK: The lines' beginnings

/// The shelves of all lines over some frames, `count` of which count; a frame is a vector.
#define SHELVE(count)                                                                                                  \
  for (int32_t k = 0; k < (count); k++) {                                                                              \
    const Sixteen x = v[k];                                                                                            \
    y = (b0 * x + b1 * x1) - a1 * y;                                                                                   \
    x1 = x;                                                                                                            \
    if (isMoving) {                                                                                                    \
      b0 += LOAD_SIXTEEN(s->b0Step);                                                                                   \
      b1 += LOAD_SIXTEEN(s->b1Step);                                                                                   \
      a1 += LOAD_SIXTEEN(s->a1Step);                                                                                   \
    }                                                                                                                  \
    v[k] = y;                                                                                                          \
  }

static ALWAYS_INLINE void write_lines(BlockRings *rings, const float *const *ends, ReverbShelves *s,
                                      const bool isMoving, const float *left, const float *right,
                                      const float *injection, int32_t frames) {
  Sixteen b0 = LOAD_SIXTEEN(s->b0), b1 = LOAD_SIXTEEN(s->b1), a1 = LOAD_SIXTEEN(s->a1);
  Sixteen x1 = LOAD_SIXTEEN(s->x1), y = LOAD_SIXTEEN(s->y1);
  float *to[lines];
  for (int32_t line = 0; line < lines; line++) {
    to[line] = backline_rings_end(rings, line);
    // A ring's lines of the cache come one after the other, but there are twice sixteen places in turn.
    for (int32_t n = block; n < 2 * block; n += 16) {
      __builtin_prefetch(ends[line] + n, 0);
      __builtin_prefetch(to[line] + n, 1);
    }
  }
  for (int32_t n = 0; n < frames; n += 8) {
    // Eight frames of two lines in each vector, then all lines of a frame.
    Sixteen v[8];
    UNROLLED for (int32_t i = 0; i < 8; i++) {
      const Eight low = LOAD_EIGHT(ends[i] + n), high = LOAD_EIGHT(ends[i + 8] + n);
      v[i] = __builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    }
    TRANSPOSE_HALVES(v);
    if (frames - n >= 8) {
      UNROLLED SHELVE(8)
    } else {
      SHELVE(frames - n)
    }
    TRANSPOSE_HALVES(v);
    // The fast Hadamard transform: sums and differences of lines that are 1, 2, 4 and 8 apart.
    UNROLLED for (int apart = 1; apart < 8; apart *= 2) {
      UNROLLED for (int i = 0; i < 8; i++) {
        if (i & apart) continue;
        const Sixteen a = v[i], b = v[i + apart];
        v[i] = a + b;
        v[i + apart] = a - b;
      }
    }
    const Eight share = LOAD_EIGHT(injection + n) * 0.3535534f;
    const Eight l = LOAD_EIGHT(left + n) * share, r = LOAD_EIGHT(right + n) * share;
    UNROLLED for (int32_t i = 0; i < 8; i++) {
      const Eight added = i % 2 == 0 ? l : r;
      const Eight low = v[i].lo, high = v[i].hi;
      const Eight sum = low + high, difference = low - high;
      STORE_EIGHT(to[i] + n, in[i] > 0 ? sum + added : sum - added);
      STORE_EIGHT(to[i + 8] + n, in[i + 8] > 0 ? difference + added : difference - added);
    }
  }
  if (isMoving) STORE_SIXTEEN(s->b0, b0), STORE_SIXTEEN(s->b1, b1), STORE_SIXTEEN(s->a1, a1);
  STORE_SIXTEEN(s->x1, x1), STORE_SIXTEEN(s->y1, y);
  for (int32_t line = 0; line < lines; line++) backline_rings_close(rings, line, frames);
  backline_rings_advance(rings, frames);
}

static ALWAYS_INLINE void backline_reverb_write_body(BlockRings *rings, const float *const *ends,
                                                     ReverbShelves *shelves, bool isMoving, const float *left,
                                                     const float *right, const float *injection, int32_t frames) {
  if (isMoving) write_lines(rings, ends, shelves, true, left, right, injection, frames);
  else write_lines(rings, ends, shelves, false, left, right, injection, frames);
}

WIDEST_FUNCTION(backline_reverb_write,
                (BlockRings * rings, const float *const *ends, ReverbShelves *shelves, bool isMoving,
                 const float *left, const float *right, const float *injection, int32_t frames),
                (rings, ends, shelves, isMoving, left, right, injection, frames))

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
