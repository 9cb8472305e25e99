// Encodes sound: interleaved floats in, packets out.
#pragma once

#include "CMovie.h"
#include "library.h"

struct movie_codec {
  AVCodecContext *context;
  AVFrame *frame;
  AVPacket *packet;
  int channels;
  /// The frames in a packet, and those of the present one.
  int size;
  int filled;
  /// The place of the present packet's first frame.
  int64_t place;
};

/// What an encoder is set up for. A rate of bits of 0 is the codec's usual one, bits of 0 are as many as it has.
typedef struct codec_settings {
  int rate;
  int channels;
  int64_t bit_rate;
  int bits;
  /// `NULL` for the usual one of so many channels.
  const AVChannelLayout *layout;
  int64_t first_frame;
} codec_settings;

/// The format of samples that keeps most of `bits` bits; none where an encoder has none of ours.
enum AVSampleFormat codec_sample_format(const AVCodec *codec, int bits);
/// Opens an encoder; a code of FFmpeg's.
int codec_open(movie_codec *codec, const AVCodec *encoder, const codec_settings *settings);
void codec_close(movie_codec *codec);
/// Takes frames until a packet's are there: how many. `codec_send` comes when `filled` is `size`, and at the end.
int64_t codec_fill(movie_codec *codec, const float *samples, int64_t count);
/// Sends what has been filled in, or that the end is there: a code of FFmpeg's. `codec_receive` comes after it.
int codec_send(movie_codec *codec, bool is_end);
/// Receives the next packet: 1, 0 where there is none now, or a code of FFmpeg's.
int codec_receive(movie_codec *codec);
