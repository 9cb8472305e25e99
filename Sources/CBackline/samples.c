#include "CBacklineSamples.h"

#include <math.h>
#include <string.h>

void backline_interleave(const float *const *channels, int32_t channelCount, int64_t frames, float *interleaved) {
  if (channelCount == 1) {
    memcpy(interleaved, channels[0], (size_t)frames * sizeof(float));
  } else if (channelCount == 2) {
    const float *left = channels[0], *right = channels[1];
    for (int64_t i = 0; i < frames; i++) {
      interleaved[2 * i] = left[i];
      interleaved[2 * i + 1] = right[i];
    }
  } else {
    for (int32_t channel = 0; channel < channelCount; channel++) {
      const float *from = channels[channel];
      float *to = interleaved + channel;
      for (int64_t i = 0; i < frames; i++) to[i * channelCount] = from[i];
    }
  }
}

void backline_deinterleave(const float *interleaved, int32_t channelCount, int64_t frames, float *const *channels) {
  if (channelCount == 1) {
    memcpy(channels[0], interleaved, (size_t)frames * sizeof(float));
  } else if (channelCount == 2) {
    float *left = channels[0], *right = channels[1];
    for (int64_t i = 0; i < frames; i++) {
      left[i] = interleaved[2 * i];
      right[i] = interleaved[2 * i + 1];
    }
  } else {
    for (int32_t channel = 0; channel < channelCount; channel++) {
      const float *from = interleaved + channel;
      float *to = channels[channel];
      for (int64_t i = 0; i < frames; i++) to[i] = from[i * channelCount];
    }
  }
}

float backline_peak(const float *samples, int64_t count) {
  // Several maxima side by side, for one alone waits for itself.
  float peaks[8] = {0};
  int64_t i = 0;
  for (; i + 8 <= count; i += 8) {
    for (int lane = 0; lane < 8; lane++) {
      const float size = fabsf(samples[i + lane]);
      peaks[lane] = size > peaks[lane] ? size : peaks[lane];
    }
  }
  for (; i < count; i++) {
    const float size = fabsf(samples[i]);
    peaks[0] = size > peaks[0] ? size : peaks[0];
  }
  for (int lane = 1; lane < 8; lane++) peaks[0] = peaks[lane] > peaks[0] ? peaks[lane] : peaks[0];
  return peaks[0];
}

/// A hash of 32 bits without visible bias (Wellons 2018, lowbias32).
static inline uint32_t scrambled(uint32_t x) {
  x ^= x >> 16;
  x *= 0x7feb352du;
  x ^= x >> 15;
  x *= 0x846ca68bu;
  return x ^ (x >> 16);
}

/// Triangular noise from -1 to 1: the difference of the two halves of a hash.
static inline double dither(uint32_t index, uint32_t seed) {
  const uint32_t bits = scrambled(index ^ seed);
  return ((double)(int32_t)(bits & 0xffffu) - (double)(int32_t)(bits >> 16)) * (1.0 / 65536.0);
}

/// Adding and taking this away rounds a double to the nearest whole number, halves to even, without a call.
#define ROUNDING 6755399441055744.0

int64_t backline_quantize(const float *samples, int64_t count, int32_t bits, int64_t firstIndex, int32_t *whole) {
  const double scale = bits == 16 ? 32768.0 : bits == 24 ? 8388608.0 : 2147483648.0;
  const double highest = scale - 1, lowest = -scale;
  const double width = bits == 32 ? 0 : 1;
  int64_t clipped = 0;
  for (int64_t i = 0; i < count; i++) {
    const uint64_t index = (uint64_t)firstIndex + (uint64_t)i;
    const double value = (double)samples[i] * scale;
    const double nearest = (value + ROUNDING) - ROUNDING;
    const double noise = dither((uint32_t)index, (uint32_t)(index >> 32) * 0x9e3779b9u + 0x2545f491u) * width;
    const double dithered = ((value + noise) + ROUNDING) - ROUNDING;
    double result = value == nearest ? nearest : dithered;
    // What full scale reads back as is one step less: that is rounding, not clipping.
    clipped += (result > scale) | (result < lowest);
    result = result < highest ? result : highest;
    result = result > lowest ? result : lowest;
    whole[i] = (int32_t)result;
  }
  return clipped;
}

void backline_pack(const int32_t *whole, int64_t count, int32_t bits, bool isBigEndian, uint8_t *bytes) {
  if (bits == 16) {
    for (int64_t i = 0; i < count; i++) {
      uint16_t value = (uint16_t)whole[i];
      if (isBigEndian) value = __builtin_bswap16(value);
      memcpy(bytes + 2 * i, &value, sizeof value);
    }
  } else if (bits == 24) {
    const int first = isBigEndian ? 2 : 0, last = 2 - first;
    for (int64_t i = 0; i < count; i++) {
      const uint32_t value = (uint32_t)whole[i];
      bytes[3 * i + first] = (uint8_t)value;
      bytes[3 * i + 1] = (uint8_t)(value >> 8);
      bytes[3 * i + last] = (uint8_t)(value >> 16);
    }
  } else {
    for (int64_t i = 0; i < count; i++) {
      uint32_t value = (uint32_t)whole[i];
      if (isBigEndian) value = __builtin_bswap32(value);
      memcpy(bytes + 4 * i, &value, sizeof value);
    }
  }
}

void backline_unquantize(const int32_t *whole, int64_t count, int32_t bits, float *samples) {
  const float step = bits == 16 ? 1.0f / 32768 : bits == 24 ? 1.0f / 8388608 : 1.0f / 2147483648.0f;
  for (int64_t i = 0; i < count; i++) samples[i] = (float)whole[i] * step;
}

void backline_pack_floats(const float *samples, int64_t count, int32_t bits, bool isBigEndian, uint8_t *bytes) {
  if (bits == 32 && !isBigEndian) {
    memcpy(bytes, samples, (size_t)count * sizeof(float));
  } else if (bits == 32) {
    for (int64_t i = 0; i < count; i++) {
      uint32_t value;
      memcpy(&value, samples + i, sizeof value);
      value = __builtin_bswap32(value);
      memcpy(bytes + 4 * i, &value, sizeof value);
    }
  } else {
    for (int64_t i = 0; i < count; i++) {
      const double wide = samples[i];
      uint64_t value;
      memcpy(&value, &wide, sizeof value);
      if (isBigEndian) value = __builtin_bswap64(value);
      memcpy(bytes + 8 * i, &value, sizeof value);
    }
  }
}

void backline_unpack(const uint8_t *bytes, int64_t count, int32_t bits, bool isFloat, float *samples) {
  if (isFloat && bits == 32) {
    memcpy(samples, bytes, (size_t)count * sizeof(float));
  } else if (isFloat) {
    for (int64_t i = 0; i < count; i++) {
      double value;
      memcpy(&value, bytes + 8 * i, sizeof value);
      samples[i] = (float)value;
    }
  } else if (bits == 8) {
    for (int64_t i = 0; i < count; i++) samples[i] = (float)((int)bytes[i] - 128) * (1.0f / 128);
  } else if (bits == 16) {
    for (int64_t i = 0; i < count; i++) {
      int16_t value;
      memcpy(&value, bytes + 2 * i, sizeof value);
      samples[i] = (float)value * (1.0f / 32768);
    }
  } else if (bits == 24) {
    for (int64_t i = 0; i < count; i++) {
      const uint32_t value =
          (uint32_t)bytes[3 * i] << 8 | (uint32_t)bytes[3 * i + 1] << 16 | (uint32_t)bytes[3 * i + 2] << 24;
      samples[i] = (float)(int32_t)value * (1.0f / 2147483648.0f);
    }
  } else {
    for (int64_t i = 0; i < count; i++) {
      int32_t value;
      memcpy(&value, bytes + 4 * i, sizeof value);
      samples[i] = (float)value * (1.0f / 2147483648.0f);
    }
  }
}
