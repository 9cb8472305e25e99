#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reader.h"
#include "samples.h"

struct movie_encoder {
  AVFormatContext *format;
  AVCodecContext *codec;
  AVFrame *frame;
  AVPacket *packet;
  AVStream *stream;
  int channels;
  /// The frames in a packet, and those of the present one.
  int size;
  int filled;
  int64_t place;
};

/// Frames that are given to an encoder at once that takes any number.
static const int any_size = 4096;

/// The encoder for a format: the source's own codec where that can be, else the format's usual one.
static const AVCodec *choose(const AVOutputFormat *format, enum AVCodecID id) {
  const AVCodec *codec = movie_av.avcodec_find_encoder(id);
  if (codec != NULL && movie_av.avformat_query_codec(format, id, FF_COMPLIANCE_NORMAL) == 1) return codec;
  return movie_av.avcodec_find_encoder(format->audio_codec);
}

/// The format of samples that keeps most.
static enum AVSampleFormat sample_format(const AVCodec *codec) {
  static const enum AVSampleFormat order[] = {AV_SAMPLE_FMT_FLTP, AV_SAMPLE_FMT_FLT, AV_SAMPLE_FMT_DBL,
                                              AV_SAMPLE_FMT_DBLP, AV_SAMPLE_FMT_S32, AV_SAMPLE_FMT_S32P,
                                              AV_SAMPLE_FMT_S16, AV_SAMPLE_FMT_S16P};
  for (size_t index = 0; index < sizeof order / sizeof *order; index++) {
    for (const enum AVSampleFormat *format = codec->sample_fmts; format != NULL && *format >= 0; format++) {
      if (*format == order[index]) return *format;
    }
  }
  return AV_SAMPLE_FMT_NONE;
}

static int open_codec(movie_encoder *encoder, const AVCodec *codec, const AVCodecParameters *source, int rate) {
  AVCodecContext *context = movie_av.avcodec_alloc_context3(codec);
  encoder->codec = context;
  if (context == NULL) return AVERROR(ENOMEM);
  context->sample_fmt = sample_format(codec);
  context->sample_rate = rate;
  context->time_base = (AVRational){1, rate};
  if (encoder->channels == source->ch_layout.nb_channels && source->ch_layout.order == AV_CHANNEL_ORDER_NATIVE) {
    movie_av.av_channel_layout_copy(&context->ch_layout, &source->ch_layout);
  } else {
    movie_av.av_channel_layout_default(&context->ch_layout, encoder->channels);
  }
  if (source->codec_id == codec->id && source->bit_rate > 0) {
    context->bit_rate = source->bit_rate;
  } else {
    context->bit_rate = 96000 * (int64_t)encoder->channels;
  }
  if (source->bits_per_raw_sample > 16) context->bits_per_raw_sample = source->bits_per_raw_sample;
  if (encoder->format->oformat->flags & AVFMT_GLOBALHEADER) context->flags |= AV_CODEC_FLAG_GLOBAL_HEADER;
  return movie_av.avcodec_open2(context, codec, NULL);
}

static int open_file(movie_encoder *encoder, const char *path) {
  encoder->stream = movie_av.avformat_new_stream(encoder->format, NULL);
  if (encoder->stream == NULL) return AVERROR(ENOMEM);
  encoder->stream->time_base = encoder->codec->time_base;
  int code = movie_av.avcodec_parameters_from_context(encoder->stream->codecpar, encoder->codec);
  if (code >= 0) code = movie_av.avio_open(&encoder->format->pb, path, AVIO_FLAG_WRITE);
  AVDictionary *options = NULL;
  movie_av.av_dict_set_int(&options, "movie_timescale", encoder->codec->sample_rate, 0);
  if (code >= 0) code = movie_av.avformat_write_header(encoder->format, &options);
  movie_av.av_dict_free(&options);
  return code;
}

movie_encoder *movie_encoder_create(const char *path, const char *format, const movie_reader *source, int32_t track,
                                    int32_t sample_rate, int32_t channels, int64_t first_frame, char *error) {
  const AVCodecParameters *parameters = source->format->streams[track]->codecpar;
  movie_encoder *encoder = calloc(1, sizeof *encoder);
  if (encoder == NULL) return NULL;
  encoder->channels = channels;
  encoder->place = first_frame;
  int code = movie_av.avformat_alloc_output_context2(&encoder->format, NULL, format, path);
  const AVCodec *codec = code >= 0 ? choose(encoder->format->oformat, parameters->codec_id) : NULL;
  if (codec == NULL || sample_format(codec) == AV_SAMPLE_FMT_NONE) {
    snprintf(error, MOVIE_ERROR_BYTES, "there is no encoder for the sound of a %s file", format);
    movie_encoder_free(encoder);
    return NULL;
  }
  code = open_codec(encoder, codec, parameters, sample_rate);
  if (code >= 0) code = open_file(encoder, path);
  if (code >= 0) {
    encoder->size = encoder->codec->frame_size > 0 ? encoder->codec->frame_size : any_size;
    encoder->packet = movie_av.av_packet_alloc();
    encoder->frame = movie_av.av_frame_alloc();
    encoder->frame->nb_samples = encoder->size;
    encoder->frame->format = encoder->codec->sample_fmt;
    encoder->frame->sample_rate = sample_rate;
    code = movie_av.av_channel_layout_copy(&encoder->frame->ch_layout, &encoder->codec->ch_layout);
    if (code >= 0) code = movie_av.av_frame_get_buffer(encoder->frame, 0);
  }
  if (code < 0) {
    char what[128];
    snprintf(what, sizeof what, "a %s file does not take this sound as %s, choose another format", format, codec->name);
    movie_tell(error, what, code);
    movie_encoder_free(encoder);
    return NULL;
  }
  return encoder;
}

/// Writes the packets that are ready; sends `frame` before, `NULL` at the end.
static int send(movie_encoder *encoder, AVFrame *frame) {
  int code = movie_av.avcodec_send_frame(encoder->codec, frame);
  while (code >= 0) {
    code = movie_av.avcodec_receive_packet(encoder->codec, encoder->packet);
    if (code == AVERROR(EAGAIN) || code == AVERROR_EOF) return 0;
    if (code < 0) return code;
    movie_av.av_packet_rescale_ts(encoder->packet, encoder->codec->time_base, encoder->stream->time_base);
    encoder->packet->stream_index = 0;
    code = movie_av.av_interleaved_write_frame(encoder->format, encoder->packet);
  }
  return code;
}

static int flush_frame(movie_encoder *encoder) {
  encoder->frame->nb_samples = encoder->filled;
  encoder->frame->pts = encoder->place;
  encoder->place += encoder->filled;
  encoder->filled = 0;
  const int code = send(encoder, encoder->frame);
  encoder->frame->nb_samples = encoder->size;
  return code < 0 ? code : movie_av.av_frame_make_writable(encoder->frame);
}

bool movie_encode(movie_encoder *encoder, const float *samples, int64_t count, char *error) {
  int64_t done = 0;
  while (done < count) {
    const int64_t room = encoder->size - encoder->filled;
    const int64_t length = count - done < room ? count - done : room;
    for (int channel = 0; channel < encoder->channels; channel++) {
      for (int64_t index = 0; index < length; index++) {
        movie_put_sample(encoder->frame, encoder->codec->sample_fmt, encoder->channels, channel,
                         encoder->filled + index, samples[(done + index) * encoder->channels + channel]);
      }
    }
    encoder->filled += (int)length;
    done += length;
    if (encoder->filled < encoder->size) return true;
    const int code = flush_frame(encoder);
    if (code < 0) {
      movie_tell(error, "its sound cannot be written", code);
      return false;
    }
  }
  return true;
}

bool movie_encoder_finish(movie_encoder *encoder, char *error) {
  int code = encoder->filled > 0 ? flush_frame(encoder) : 0;
  if (code >= 0) code = send(encoder, NULL);
  if (code >= 0) code = movie_av.av_write_trailer(encoder->format);
  if (code >= 0) code = movie_av.avio_closep(&encoder->format->pb);
  if (code < 0) movie_tell(error, "its sound cannot be finished", code);
  return code >= 0;
}

void movie_encoder_free(movie_encoder *encoder) {
  if (encoder->codec != NULL) movie_av.avcodec_free_context(&encoder->codec);
  if (encoder->frame != NULL) movie_av.av_frame_free(&encoder->frame);
  if (encoder->packet != NULL) movie_av.av_packet_free(&encoder->packet);
  if (encoder->format != NULL) {
    if (encoder->format->pb != NULL) movie_av.avio_closep(&encoder->format->pb);
    movie_av.avformat_free_context(encoder->format);
  }
  free(encoder);
}
