#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codec.h"
#include "reader.h"

struct movie_encoder {
  movie_codec codec;
  AVFormatContext *format;
  AVStream *stream;
};

/// The encoder for a format: the source's own codec where that can be, else the format's usual one.
static const AVCodec *choose(const AVOutputFormat *format, enum AVCodecID id) {
  const AVCodec *codec = movie_av.avcodec_find_encoder(id);
  if (codec != NULL && movie_av.avformat_query_codec(format, id, FF_COMPLIANCE_NORMAL) == 1) return codec;
  return movie_av.avcodec_find_encoder(format->audio_codec);
}

static int open_codec(movie_encoder *encoder, const AVCodec *codec, const AVCodecParameters *source,
                      codec_settings settings) {
  if (settings.channels == source->ch_layout.nb_channels && source->ch_layout.order == AV_CHANNEL_ORDER_NATIVE) {
    settings.layout = &source->ch_layout;
  }
  if (source->codec_id == codec->id && source->bit_rate > 0) settings.bit_rate = source->bit_rate;
  if (source->bits_per_raw_sample > 16) settings.bits = source->bits_per_raw_sample;
  return codec_open(&encoder->codec, codec, &settings);
}

static int open_file(movie_encoder *encoder, const char *path) {
  encoder->stream = movie_av.avformat_new_stream(encoder->format, NULL);
  if (encoder->stream == NULL) return AVERROR(ENOMEM);
  encoder->stream->time_base = encoder->codec.context->time_base;
  int code = movie_av.avcodec_parameters_from_context(encoder->stream->codecpar, encoder->codec.context);
  if (code >= 0) code = movie_av.avio_open(&encoder->format->pb, path, AVIO_FLAG_WRITE);
  AVDictionary *options = NULL;
  movie_av.av_dict_set_int(&options, "movie_timescale", encoder->codec.context->sample_rate, 0);
  if (code >= 0) code = movie_av.avformat_write_header(encoder->format, &options);
  movie_av.av_dict_free(&options);
  return code;
}

movie_encoder *movie_encoder_create(const char *path, const char *format, const movie_reader *source, int32_t track,
                                    int32_t sample_rate, int32_t channels, int64_t first_frame, char *error) {
  const AVCodecParameters *parameters = source->format->streams[track]->codecpar;
  movie_encoder *encoder = calloc(1, sizeof *encoder);
  if (encoder == NULL) return NULL;
  int code = movie_av.avformat_alloc_output_context2(&encoder->format, NULL, format, path);
  const AVCodec *codec = code >= 0 ? choose(encoder->format->oformat, parameters->codec_id) : NULL;
  if (codec == NULL || codec_sample_format(codec, 0) == AV_SAMPLE_FMT_NONE) {
    snprintf(error, MOVIE_ERROR_BYTES, "there is no encoder for the sound of a %s file", format);
    movie_encoder_free(encoder);
    return NULL;
  }
  const codec_settings settings = {.rate = sample_rate, .channels = channels, .first_frame = first_frame};
  code = open_codec(encoder, codec, parameters, settings);
  if (code >= 0) code = open_file(encoder, path);
  if (code < 0) {
    char what[128];
    snprintf(what, sizeof what, "a %s file does not take this sound as %s, choose another format", format, codec->name);
    movie_tell(error, what, code);
    movie_encoder_free(encoder);
    return NULL;
  }
  return encoder;
}

/// Writes the packets that are ready; sends what has been filled in before, or that the end is there.
static int send(movie_encoder *encoder, bool is_end) {
  int code = codec_send(&encoder->codec, is_end);
  while (code >= 0) {
    code = codec_receive(&encoder->codec);
    if (code <= 0) return code;
    AVPacket *packet = encoder->codec.packet;
    movie_av.av_packet_rescale_ts(packet, encoder->codec.context->time_base, encoder->stream->time_base);
    packet->stream_index = 0;
    code = movie_av.av_interleaved_write_frame(encoder->format, packet);
  }
  return code;
}

bool movie_encode(movie_encoder *encoder, const float *samples, int64_t count, char *error) {
  int64_t done = 0;
  while (done < count) {
    done += codec_fill(&encoder->codec, samples + done * encoder->codec.channels, count - done);
    if (encoder->codec.filled < encoder->codec.size) return true;
    const int code = send(encoder, false);
    if (code < 0) {
      movie_tell(error, "its sound cannot be written", code);
      return false;
    }
  }
  return true;
}

bool movie_encoder_finish(movie_encoder *encoder, char *error) {
  int code = encoder->codec.filled > 0 ? send(encoder, false) : 0;
  if (code >= 0) code = send(encoder, true);
  if (code >= 0) code = movie_av.av_write_trailer(encoder->format);
  if (code >= 0) code = movie_av.avio_closep(&encoder->format->pb);
  if (code < 0) movie_tell(error, "its sound cannot be finished", code);
  return code >= 0;
}

void movie_encoder_free(movie_encoder *encoder) {
  codec_close(&encoder->codec);
  if (encoder->format != NULL) {
    if (encoder->format->pb != NULL) movie_av.avio_closep(&encoder->format->pb);
    movie_av.avformat_free_context(encoder->format);
  }
  free(encoder);
}
