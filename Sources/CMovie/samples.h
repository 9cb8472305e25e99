// Samples between FFmpeg's frames and interleaved floats.
#pragma once

#include <libavutil/frame.h>
#include <stdbool.h>
#include <stdint.h>

/// True for the formats that `movie_get_sample` and `movie_put_sample` know.
bool movie_knows(enum AVSampleFormat format);
float movie_get_sample(const AVFrame *frame, enum AVSampleFormat format, int channels, int channel, int64_t index);
void movie_put_sample(AVFrame *frame, enum AVSampleFormat format, int channels, int channel, int64_t index, float value);
