#include "samples.h"

#include <math.h>

static bool is_planar(enum AVSampleFormat format) {
  return format == AV_SAMPLE_FMT_U8P || format == AV_SAMPLE_FMT_S16P || format == AV_SAMPLE_FMT_S32P ||
         format == AV_SAMPLE_FMT_FLTP || format == AV_SAMPLE_FMT_DBLP;
}

bool movie_knows(enum AVSampleFormat format) {
  return format >= AV_SAMPLE_FMT_U8 && format <= AV_SAMPLE_FMT_DBLP;
}

float movie_get_sample(const AVFrame *frame, enum AVSampleFormat format, int channels, int channel, int64_t index) {
  const int64_t at = is_planar(format) ? index : index * channels + channel;
  const void *data = frame->extended_data[is_planar(format) ? channel : 0];
  switch (format) {
    case AV_SAMPLE_FMT_U8:
    case AV_SAMPLE_FMT_U8P: return (float)(((const uint8_t *)data)[at] - 128) * 0x1p-7f;
    case AV_SAMPLE_FMT_S16:
    case AV_SAMPLE_FMT_S16P: return (float)((const int16_t *)data)[at] * 0x1p-15f;
    case AV_SAMPLE_FMT_S32:
    case AV_SAMPLE_FMT_S32P: return (float)((const int32_t *)data)[at] * 0x1p-31f;
    case AV_SAMPLE_FMT_FLT:
    case AV_SAMPLE_FMT_FLTP: return ((const float *)data)[at];
    case AV_SAMPLE_FMT_DBL:
    case AV_SAMPLE_FMT_DBLP: return (float)((const double *)data)[at];
    default: return 0;
  }
}

/// To the nearest whole number of `bits` bits, clipped.
static int32_t whole(float value, int bits) {
  const double scale = ldexp(1, bits - 1), scaled = rint((double)value * scale);
  return (int32_t)(scaled < -scale ? -scale : scaled > scale - 1 ? scale - 1 : scaled);
}

void movie_put_sample(AVFrame *frame, enum AVSampleFormat format, int channels, int channel, int64_t index,
                      float value) {
  const int64_t at = is_planar(format) ? index : index * channels + channel;
  void *data = frame->extended_data[is_planar(format) ? channel : 0];
  switch (format) {
    case AV_SAMPLE_FMT_U8:
    case AV_SAMPLE_FMT_U8P: ((uint8_t *)data)[at] = (uint8_t)(whole(value, 8) + 128); break;
    case AV_SAMPLE_FMT_S16:
    case AV_SAMPLE_FMT_S16P: ((int16_t *)data)[at] = (int16_t)whole(value, 16); break;
    case AV_SAMPLE_FMT_S32:
    case AV_SAMPLE_FMT_S32P: ((int32_t *)data)[at] = whole(value, 32); break;
    case AV_SAMPLE_FMT_FLT:
    case AV_SAMPLE_FMT_FLTP: ((float *)data)[at] = value; break;
    case AV_SAMPLE_FMT_DBL:
    case AV_SAMPLE_FMT_DBLP: ((double *)data)[at] = value; break;
    default: break;
  }
}
