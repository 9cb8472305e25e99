#include "codec.h"

#include <stdio.h>
#include <stdlib.h>

#include "samples.h"

/// Frames that are given to an encoder at once that takes any number.
static const int any_size = 1024;

enum AVSampleFormat codec_sample_format(const AVCodec *codec, int bits) {
  static const enum AVSampleFormat best[] = {AV_SAMPLE_FMT_FLTP, AV_SAMPLE_FMT_FLT, AV_SAMPLE_FMT_DBL,
                                             AV_SAMPLE_FMT_DBLP, AV_SAMPLE_FMT_S32, AV_SAMPLE_FMT_S32P,
                                             AV_SAMPLE_FMT_S16, AV_SAMPLE_FMT_S16P};
  static const enum AVSampleFormat short_first[] = {AV_SAMPLE_FMT_S16, AV_SAMPLE_FMT_S16P};
  for (const enum AVSampleFormat *format = codec->sample_fmts; bits == 16 && format != NULL && *format >= 0; format++) {
    if (*format == short_first[0] || *format == short_first[1]) return *format;
  }
  for (size_t index = 0; index < sizeof best / sizeof *best; index++) {
    for (const enum AVSampleFormat *format = codec->sample_fmts; format != NULL && *format >= 0; format++) {
      if (*format == best[index]) return *format;
    }
  }
  return AV_SAMPLE_FMT_NONE;
}

int codec_open(movie_codec *codec, const AVCodec *encoder, const codec_settings *settings) {
  AVCodecContext *context = movie_av.avcodec_alloc_context3(encoder);
  codec->context = context;
  if (context == NULL) return AVERROR(ENOMEM);
  codec->channels = settings->channels;
  codec->place = settings->first_frame;
  context->sample_fmt = codec_sample_format(encoder, settings->bits);
  context->sample_rate = settings->rate;
  context->time_base = (AVRational){1, settings->rate};
  if (settings->layout != NULL) {
    movie_av.av_channel_layout_copy(&context->ch_layout, settings->layout);
  } else {
    movie_av.av_channel_layout_default(&context->ch_layout, settings->channels);
  }
  context->bit_rate = settings->bit_rate > 0 ? settings->bit_rate : 96000 * (int64_t)settings->channels;
  if (settings->bits > 16) context->bits_per_raw_sample = settings->bits;
  // All containers here keep what a decoder has to know before the packets.
  context->flags |= AV_CODEC_FLAG_GLOBAL_HEADER;
  int code = movie_av.avcodec_open2(context, encoder, NULL);
  if (code < 0) return code;
  codec->size = context->frame_size > 0 ? context->frame_size : any_size;
  codec->packet = movie_av.av_packet_alloc();
  codec->frame = movie_av.av_frame_alloc();
  if (codec->packet == NULL || codec->frame == NULL) return AVERROR(ENOMEM);
  codec->frame->nb_samples = codec->size;
  codec->frame->format = context->sample_fmt;
  codec->frame->sample_rate = settings->rate;
  code = movie_av.av_channel_layout_copy(&codec->frame->ch_layout, &context->ch_layout);
  return code < 0 ? code : movie_av.av_frame_get_buffer(codec->frame, 0);
}

void codec_close(movie_codec *codec) {
  if (codec->context != NULL) movie_av.avcodec_free_context(&codec->context);
  if (codec->frame != NULL) movie_av.av_frame_free(&codec->frame);
  if (codec->packet != NULL) movie_av.av_packet_free(&codec->packet);
}

int64_t codec_fill(movie_codec *codec, const float *samples, int64_t count) {
  const int64_t room = codec->size - codec->filled;
  const int64_t length = count < room ? count : room;
  for (int channel = 0; channel < codec->channels; channel++) {
    for (int64_t index = 0; index < length; index++) {
      movie_put_sample(codec->frame, codec->context->sample_fmt, codec->channels, channel, codec->filled + index,
                       samples[index * codec->channels + channel]);
    }
  }
  codec->filled += (int)length;
  return length;
}

int codec_send(movie_codec *codec, bool is_end) {
  if (is_end && codec->filled == 0) return movie_av.avcodec_send_frame(codec->context, NULL);
  // Encoders of any size make a packet of what they get: the frame's memory is another's until it has been read.
  codec->frame->nb_samples = codec->filled;
  codec->frame->pts = codec->place;
  codec->place += codec->filled;
  codec->filled = 0;
  const int code = movie_av.avcodec_send_frame(codec->context, codec->frame);
  codec->frame->nb_samples = codec->size;
  return code < 0 ? code : movie_av.av_frame_make_writable(codec->frame);
}

int codec_receive(movie_codec *codec) {
  const int code = movie_av.avcodec_receive_packet(codec->context, codec->packet);
  if (code == AVERROR(EAGAIN) || code == AVERROR_EOF) return 0;
  return code < 0 ? code : 1;
}

// Packets for a writer.

static const AVCodec *find(const char *name, char *error) {
  const AVCodec *codec = movie_load(error) ? movie_av.avcodec_find_encoder_by_name(name) : NULL;
  if (codec == NULL && error[0] == 0) snprintf(error, MOVIE_ERROR_BYTES, "FFmpeg has no encoder %s here", name);
  return codec;
}

movie_codec *movie_codec_create(const char *name, int32_t rate, int32_t channels, int64_t bit_rate, int32_t bits,
                                char *error) {
  const AVCodec *encoder = find(name, error);
  movie_codec *codec = encoder != NULL ? calloc(1, sizeof *codec) : NULL;
  if (codec == NULL) return NULL;
  const codec_settings settings = {.rate = rate, .channels = channels, .bit_rate = bit_rate, .bits = bits};
  const int code = codec_open(codec, encoder, &settings);
  if (code >= 0) return codec;
  char what[96];
  snprintf(what, sizeof what, "%s does not take %d channels at %d Hz", name, channels, rate);
  movie_tell(error, what, code);
  movie_codec_free(codec);
  return NULL;
}

void movie_codec_free(movie_codec *codec) {
  codec_close(codec);
  free(codec);
}

void movie_codec_begin(movie_codec *codec, int64_t first_frame) { codec->place = first_frame; }

int32_t movie_codec_padding(const movie_codec *codec) { return codec->context->initial_padding; }

int64_t movie_codec_put(movie_codec *codec, const float *samples, int64_t count, char *error) {
  const int64_t taken = codec_fill(codec, samples, count);
  const int code = codec->filled == codec->size ? codec_send(codec, false) : 0;
  if (code < 0) movie_tell(error, "the sound cannot be encoded", code);
  return code < 0 ? -1 : taken;
}

bool movie_codec_end(movie_codec *codec, char *error) {
  int code = codec->filled > 0 ? codec_send(codec, false) : 0;
  if (code >= 0) code = codec_send(codec, true);
  if (code < 0) movie_tell(error, "the sound cannot be encoded", code);
  return code >= 0;
}

int32_t movie_codec_get(movie_codec *codec, movie_packet *packet, char *error) {
  movie_av.av_packet_unref(codec->packet);
  const int code = codec_receive(codec);
  if (code < 0) movie_tell(error, "the sound cannot be encoded", code);
  if (code <= 0) return code;
  movie_describe(codec->packet, codec->context->time_base, packet);
  return 1;
}
