#include "reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "samples.h"

/// What a packet's time may be off by without that being a gap, in parts of a second: containers round.
static const int64_t jitter = 50;

const char *const movie_text_name = "Timed metadata";

static bool is_metadata(const AVStream *stream) {
  if (stream->disposition & AV_DISPOSITION_METADATA) return true;
  static const char *const keys[] = {"handler_name", "title"};
  for (size_t index = 0; index < sizeof keys / sizeof *keys; index++) {
    const AVDictionaryEntry *name = movie_av.av_dict_get(stream->metadata, keys[index], NULL, 0);
    if (name != NULL && strcmp(name->value, movie_text_name) == 0) return true;
  }
  return false;
}

movie_reader *movie_open(const char *path, char *error) {
  if (!movie_load(error)) return NULL;
  movie_reader *reader = calloc(1, sizeof *reader);
  if (reader == NULL) return NULL;
  reader->track = -1;
  int code = movie_av.avformat_open_input(&reader->format, path, NULL, NULL);
  if (code >= 0) code = movie_av.avformat_find_stream_info(reader->format, NULL);
  if (code < 0) {
    movie_tell(error, "it is no movie", code);
    movie_close(reader);
    return NULL;
  }
  reader->packet = movie_av.av_packet_alloc();
  reader->frame = movie_av.av_frame_alloc();
  return reader;
}

void movie_close(movie_reader *reader) {
  if (reader->decoder != NULL) movie_av.avcodec_free_context(&reader->decoder);
  if (reader->packet != NULL) movie_av.av_packet_free(&reader->packet);
  if (reader->frame != NULL) movie_av.av_frame_free(&reader->frame);
  if (reader->format != NULL) movie_av.avformat_close_input(&reader->format);
  free(reader);
}

int32_t movie_track_count(const movie_reader *reader) { return (int32_t)reader->format->nb_streams; }

movie_track movie_track_at(const movie_reader *reader, int32_t index) {
  const AVStream *stream = reader->format->streams[index];
  movie_track track = {.kind = movie_data};
  switch (stream->codecpar->codec_type) {
    case AVMEDIA_TYPE_VIDEO: track.kind = movie_video; break;
    case AVMEDIA_TYPE_AUDIO: track.kind = movie_audio; break;
    case AVMEDIA_TYPE_SUBTITLE: track.kind = is_metadata(stream) ? movie_data : movie_subtitle; break;
    default: break;
  }
  track.sample_rate = stream->codecpar->sample_rate;
  track.channels = stream->codecpar->ch_layout.nb_channels;
  snprintf(track.codec, sizeof track.codec, "%s", movie_av.avcodec_get_name(stream->codecpar->codec_id));
  if (stream->duration > 0) {
    track.duration = stream->duration * stream->time_base.num;
    track.duration_scale = stream->time_base.den;
  } else if (reader->format->duration > 0) {
    track.duration = reader->format->duration;
    track.duration_scale = AV_TIME_BASE;
  }
  return track;
}

bool movie_select(movie_reader *reader, int32_t index, char *error) {
  AVStream *stream = reader->format->streams[index];
  const AVCodec *codec = movie_av.avcodec_find_decoder(stream->codecpar->codec_id);
  if (codec == NULL) {
    snprintf(error, MOVIE_ERROR_BYTES, "its sound (%s) cannot be decoded here",
             movie_av.avcodec_get_name(stream->codecpar->codec_id));
    return false;
  }
  reader->decoder = movie_av.avcodec_alloc_context3(codec);
  int code = reader->decoder == NULL ? AVERROR(ENOMEM)
                                     : movie_av.avcodec_parameters_to_context(reader->decoder, stream->codecpar);
  if (code >= 0) {
    reader->decoder->pkt_timebase = stream->time_base;
    code = movie_av.avcodec_open2(reader->decoder, codec, NULL);
  }
  if (code < 0) {
    movie_tell(error, "its sound cannot be decoded", code);
    return false;
  }
  for (unsigned other = 0; other < reader->format->nb_streams; other++) {
    if ((int32_t)other != index) reader->format->streams[other]->discard = AVDISCARD_ALL;
  }
  reader->track = index;
  reader->first = INT64_MIN;
  reader->end = INT64_MAX;
  if (stream->duration > 0 && stream->duration != AV_NOPTS_VALUE) {
    const int64_t start = stream->start_time == AV_NOPTS_VALUE ? 0 : stream->start_time;
    reader->end = movie_av.av_rescale_q(start + stream->duration, stream->time_base,
                                        (AVRational){1, stream->codecpar->sample_rate});
  }
  return true;
}

/// Sees where a frame that has just been decoded belongs.
static void place_frame(movie_reader *reader) {
  const AVStream *stream = reader->format->streams[reader->track];
  const int rate = stream->codecpar->sample_rate;
  reader->used = 0;
  reader->missing = 0;
  const int64_t time = reader->frame->best_effort_timestamp;
  const int64_t wanted =
      time == AV_NOPTS_VALUE
          ? reader->place
          : movie_av.av_rescale_q(time, stream->time_base, (AVRational){1, rate});
  if (reader->first == INT64_MIN) {
    reader->first = time == AV_NOPTS_VALUE ? 0 : wanted;
    reader->place = reader->first;
    return;
  }
  const int64_t off = wanted - reader->place;
  if (off > rate / jitter) {
    reader->missing = off;
  } else if (off < -rate / jitter) {
    // What is told twice is left out.
    reader->used = -off < reader->frame->nb_samples ? -off : reader->frame->nb_samples;
  }
}

/// Decodes the next frame: 1, 0 at the end, or an error of FFmpeg's.
static int decode(movie_reader *reader) {
  while (true) {
    movie_av.av_frame_unref(reader->frame);
    int code = movie_av.avcodec_receive_frame(reader->decoder, reader->frame);
    if (code >= 0) {
      if (reader->frame->nb_samples <= 0) continue;
      place_frame(reader);
      return 1;
    }
    if (code == AVERROR_EOF) return 0;
    if (code != AVERROR(EAGAIN)) return code;
    code = movie_av.av_read_frame(reader->format, reader->packet);
    if (code == AVERROR_EOF) {
      reader->is_at_end = true;
      movie_av.avcodec_send_packet(reader->decoder, NULL);
      continue;
    }
    if (code < 0) return code;
    if (reader->packet->stream_index == reader->track) {
      code = movie_av.avcodec_send_packet(reader->decoder, reader->packet);
    }
    movie_av.av_packet_unref(reader->packet);
    if (code < 0 && code != AVERROR(EAGAIN)) return code;
  }
}

int64_t movie_read(movie_reader *reader, float *samples, int64_t count, char *error) {
  const int channels = reader->decoder->ch_layout.nb_channels;
  if (reader->first != INT64_MIN && count > reader->end - reader->place) count = reader->end - reader->place;
  if (count < 0 || (count == 0 && reader->first != INT64_MIN)) return 0;
  while (reader->missing == 0 && reader->used >= reader->frame->nb_samples) {
    const int code = decode(reader);
    if (code == 0) return 0;
    if (code < 0) {
      movie_tell(error, "its sound is broken", code);
      return -1;
    }
    const enum AVSampleFormat format = (enum AVSampleFormat)reader->frame->format;
    if (!movie_knows(format) || reader->frame->ch_layout.nb_channels != channels) {
      snprintf(error, MOVIE_ERROR_BYTES, "its sound changes its form on the way");
      return -1;
    }
  }
  if (reader->missing > 0) {
    const int64_t length = reader->missing < count ? reader->missing : count;
    memset(samples, 0, (size_t)(length * channels) * sizeof *samples);
    reader->missing -= length;
    reader->place += length;
    return length;
  }
  const int64_t left = reader->frame->nb_samples - reader->used;
  const int64_t length = left < count ? left : count;
  for (int channel = 0; channel < channels; channel++) {
    for (int64_t index = 0; index < length; index++) {
      samples[index * channels + channel] = movie_get_sample(
          reader->frame, (enum AVSampleFormat)reader->frame->format, channels, channel, reader->used + index);
    }
  }
  reader->used += length;
  reader->place += length;
  return length;
}

int64_t movie_first_frame(const movie_reader *reader) { return reader->first == INT64_MIN ? 0 : reader->first; }
