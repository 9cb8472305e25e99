#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reader.h"

struct movie_writer {
  AVFormatContext *format;
  AVPacket *packet;
};

int32_t movie_next_packet(movie_reader *reader, movie_packet *packet, char *error) {
  movie_av.av_packet_unref(reader->packet);
  const int code = movie_av.av_read_frame(reader->format, reader->packet);
  if (code == AVERROR_EOF) return 0;
  if (code < 0) {
    movie_tell(error, "it is broken", code);
    return -1;
  }
  const AVPacket *from = reader->packet;
  const AVRational base = reader->format->streams[from->stream_index]->time_base;
  *packet = (movie_packet){.track = from->stream_index,
                           .pts = from->pts,
                           .dts = from->dts,
                           .duration = from->duration,
                           .scale_num = base.num,
                           .scale_den = base.den,
                           .is_key = (from->flags & AV_PKT_FLAG_KEY) != 0,
                           .bytes = from->data,
                           .count = from->size};
  return 1;
}

bool movie_format_holds(const char *format, const movie_reader *reader, int32_t track) {
  AVFormatContext *context = NULL;
  if (movie_av.avformat_alloc_output_context2(&context, NULL, format, NULL) < 0) return false;
  const enum AVCodecID codec = reader->format->streams[track]->codecpar->codec_id;
  const bool holds = movie_av.avformat_query_codec(context->oformat, codec, FF_COMPLIANCE_NORMAL) == 1;
  movie_av.avformat_free_context(context);
  return holds;
}

movie_writer *movie_writer_create(const char *path, const char *format, char *error) {
  if (!movie_load(error)) return NULL;
  movie_writer *writer = calloc(1, sizeof *writer);
  if (writer == NULL) return NULL;
  writer->packet = movie_av.av_packet_alloc();
  int code = movie_av.avformat_alloc_output_context2(&writer->format, NULL, format, path);
  if (code >= 0) code = movie_av.avio_open(&writer->format->pb, path, AVIO_FLAG_WRITE);
  if (code < 0) {
    movie_tell(error, "it cannot be made", code);
    movie_writer_free(writer);
    return NULL;
  }
  return writer;
}

int32_t movie_writer_add(movie_writer *writer, const movie_reader *reader, int32_t track) {
  const AVStream *from = reader->format->streams[track];
  AVStream *stream = movie_av.avformat_new_stream(writer->format, NULL);
  if (stream == NULL || movie_av.avcodec_parameters_copy(stream->codecpar, from->codecpar) < 0) return -1;
  stream->codecpar->codec_tag = 0;
  stream->time_base = from->time_base;
  stream->avg_frame_rate = from->avg_frame_rate;
  stream->sample_aspect_ratio = from->sample_aspect_ratio;
  return stream->index;
}

bool movie_writer_begin(movie_writer *writer, int32_t timescale, char *error) {
  AVDictionary *options = NULL;
  movie_av.av_dict_set_int(&options, "movie_timescale", timescale, 0);
  const int code = movie_av.avformat_write_header(writer->format, &options);
  movie_av.av_dict_free(&options);
  if (code < 0) movie_tell(error, "it does not hold these tracks", code);
  return code >= 0;
}

bool movie_writer_write(movie_writer *writer, const movie_packet *from, char *error) {
  AVPacket *packet = writer->packet;
  int code = movie_av.av_new_packet(packet, (int)from->count);
  if (code >= 0) {
    memcpy(packet->data, from->bytes, (size_t)from->count);
    packet->stream_index = from->track;
    packet->pts = from->pts;
    packet->dts = from->dts;
    packet->duration = from->duration;
    packet->flags = from->is_key ? AV_PKT_FLAG_KEY : 0;
    movie_av.av_packet_rescale_ts(packet, (AVRational){from->scale_num, from->scale_den},
                                  writer->format->streams[from->track]->time_base);
    code = movie_av.av_write_frame(writer->format, packet);
    movie_av.av_packet_unref(packet);
  }
  // What a full disk refuses is noticed when the buffer is written out.
  if (code >= 0 && writer->format->pb->error < 0) code = writer->format->pb->error;
  if (code < 0) movie_tell(error, "it cannot be written", code);
  return code >= 0;
}

bool movie_writer_finish(movie_writer *writer, char *error) {
  int code = movie_av.av_write_trailer(writer->format);
  if (code >= 0 && writer->format->pb->error < 0) code = writer->format->pb->error;
  const int closed = movie_av.avio_closep(&writer->format->pb);
  if (code >= 0) code = closed;
  if (code < 0) movie_tell(error, "it cannot be finished", code);
  return code >= 0;
}

void movie_writer_free(movie_writer *writer) {
  if (writer->packet != NULL) movie_av.av_packet_free(&writer->packet);
  if (writer->format != NULL) {
    if (writer->format->pb != NULL) movie_av.avio_closep(&writer->format->pb);
    movie_av.avformat_free_context(writer->format);
  }
  free(writer);
}
