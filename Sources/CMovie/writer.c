#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codec.h"
#include "reader.h"

struct movie_writer {
  AVFormatContext *format;
  AVPacket *packet;
  /// Milliseconds of a fragment, and when the next one begins; 0 where there are none.
  int64_t fragment;
  int64_t fragment_end;
  bool has_ended_one;
};

int32_t movie_next_packet(movie_reader *reader, movie_packet *packet, char *error) {
  movie_av.av_packet_unref(reader->packet);
  const int code = movie_av.av_read_frame(reader->format, reader->packet);
  if (code == AVERROR_EOF) return 0;
  if (code < 0) {
    movie_tell(error, "it is broken", code);
    return -1;
  }
  movie_describe(reader->packet, reader->format->streams[reader->packet->stream_index]->time_base, packet);
  return 1;
}

/// Where the number of frames to leave out at the end is in the side data for that, and how long that is.
enum { skip_end = 4, skip_bytes = 10 };

void movie_describe(const AVPacket *from, AVRational base, movie_packet *packet) {
  *packet = (movie_packet){.track = from->stream_index,
                           .pts = from->pts,
                           .dts = from->dts,
                           .duration = from->duration,
                           .scale_num = base.num,
                           .scale_den = base.den,
                           .is_key = (from->flags & AV_PKT_FLAG_KEY) != 0,
                           .bytes = from->data,
                           .count = from->size};
  size_t count = 0;
  const uint8_t *skipped = movie_av.av_packet_get_side_data(from, AV_PKT_DATA_SKIP_SAMPLES, &count);
  if (skipped != NULL && count >= skip_bytes) {
    for (int byte = 3; byte >= 0; byte--) packet->padding = packet->padding << 8 | skipped[skip_end + byte];
  }
  packet->setup = movie_av.av_packet_get_side_data(from, AV_PKT_DATA_NEW_EXTRADATA, &count);
  packet->setup_count = packet->setup != NULL ? (int64_t)count : 0;
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
  stream->disposition = from->disposition;
  movie_av.av_dict_copy(&stream->metadata, from->metadata, 0);
  return stream->index;
}

static int add_codec(AVFormatContext *format, const movie_codec *codec) {
  AVStream *stream = movie_av.avformat_new_stream(format, NULL);
  if (stream == NULL) return AVERROR(ENOMEM);
  stream->time_base = codec->context->time_base;
  const int code = movie_av.avcodec_parameters_from_context(stream->codecpar, codec->context);
  return code < 0 ? code : stream->index;
}

int32_t movie_writer_add_codec(movie_writer *writer, const movie_codec *codec) {
  const int index = add_codec(writer->format, codec);
  return index < 0 ? -1 : index;
}

bool movie_codec_fits(const char *format, const movie_codec *codec, char *error) {
  AVFormatContext *context = NULL;
  int code = movie_av.avformat_alloc_output_context2(&context, NULL, format, NULL);
  if (code >= 0) code = add_codec(context, codec);
  if (code >= 0) code = movie_av.avio_open_dyn_buf(&context->pb);
  if (code >= 0) {
    code = movie_av.avformat_write_header(context, NULL);
    uint8_t *bytes = NULL;
    movie_av.avio_close_dyn_buf(context->pb, &bytes);
    movie_av.av_free(bytes);
    context->pb = NULL;
  }
  if (context != NULL) movie_av.avformat_free_context(context);
  if (code < 0) movie_tell(error, "FFmpeg does not put that there", code);
  return code >= 0;
}

/// A description of plain text in the manner of 3GPP TS 26.245 (tx3g): white, at the bottom, one font.
static const uint8_t text_setup[] = {0, 0, 0, 0,   1, 255, 0,   0,   0,   0,   0,   0,   0,   0,   0,   0,
                                     0, 0, 0, 0,   0, 0,   0,   1,   0,   18,  255, 255, 255, 255, 0,   0,
                                     0, 18, 'f', 't', 'a', 'b', 0, 1, 0, 1, 5, 'S', 'e', 'r', 'i', 'f'};

int32_t movie_writer_add_text(movie_writer *writer, int32_t timescale) {
  const bool is_matroska = strcmp(writer->format->oformat->name, "matroska") == 0;
  AVStream *stream = movie_av.avformat_new_stream(writer->format, NULL);
  if (stream == NULL) return -1;
  stream->time_base = (AVRational){1, is_matroska ? 1000 : timescale};
  stream->codecpar->codec_type = AVMEDIA_TYPE_SUBTITLE;
  stream->codecpar->codec_id = is_matroska ? AV_CODEC_ID_WEBVTT : AV_CODEC_ID_MOV_TEXT;
  stream->disposition = AV_DISPOSITION_METADATA;
  movie_av.av_dict_set(&stream->metadata, is_matroska ? "title" : "handler_name", movie_text_name, 0);
  if (is_matroska) return stream->index;
  stream->codecpar->codec_tag = MKTAG('t', 'x', '3', 'g');
  // FFmpeg reads some bytes beyond the end.
  stream->codecpar->extradata = movie_av.av_mallocz(sizeof text_setup + AV_INPUT_BUFFER_PADDING_SIZE);
  if (stream->codecpar->extradata == NULL) return -1;
  memcpy(stream->codecpar->extradata, text_setup, sizeof text_setup);
  stream->codecpar->extradata_size = sizeof text_setup;
  return stream->index;
}

bool movie_writer_begin(movie_writer *writer, int32_t timescale, int64_t fragment, char *error) {
  AVDictionary *options = NULL;
  movie_av.av_dict_set_int(&options, "movie_timescale", timescale, 0);
  writer->fragment = fragment;
  writer->fragment_end = fragment;
  // MP4 and MOV; the header waits for the first packets, whose times are in its edit lists.
  if (fragment > 0) movie_av.av_dict_set(&options, "movflags", "frag_custom+delay_moov", 0);
  const int code = movie_av.avformat_write_header(writer->format, &options);
  movie_av.av_dict_free(&options);
  if (code < 0) movie_tell(error, "it does not hold these tracks", code);
  return code >= 0;
}

static int add_side_data(AVPacket *packet, const movie_packet *from) {
  if (from->padding > 0) {
    uint8_t *skipped = movie_av.av_packet_new_side_data(packet, AV_PKT_DATA_SKIP_SAMPLES, skip_bytes);
    if (skipped == NULL) return AVERROR(ENOMEM);
    memset(skipped, 0, skip_bytes);
    for (int byte = 0; byte < 4; byte++) skipped[skip_end + byte] = (uint8_t)(from->padding >> (8 * byte));
  }
  if (from->setup_count > 0) {
    uint8_t *setup =
        movie_av.av_packet_new_side_data(packet, AV_PKT_DATA_NEW_EXTRADATA, (size_t)from->setup_count);
    if (setup == NULL) return AVERROR(ENOMEM);
    memcpy(setup, from->setup, (size_t)from->setup_count);
  }
  return 0;
}

/// Ends the fragment or cluster where it is as long as it should be.
static int end_fragment(movie_writer *writer, const movie_packet *next) {
  const AVRational base = {next->scale_num, next->scale_den};
  const int64_t time = movie_av.av_rescale_q(next->dts, base, (AVRational){1, 1000});
  if (time < writer->fragment_end) return 0;
  writer->fragment_end = time + writer->fragment;
  writer->has_ended_one = true;
  const int code = movie_av.av_write_frame(writer->format, NULL);
  movie_av.avio_flush(writer->format->pb);
  return code;
}

/// Has the next packet end a fragment, or begin its track, where it should.
static int begin_packet(movie_writer *writer, const movie_packet *next) {
  if (writer->fragment == 0) return 0;
  const int code = end_fragment(writer, next);
  if (writer->has_ended_one && writer->format->streams[next->track]->nb_frames == 0) {
    // The header of MP4 and MOV is written, and says nothing of a track that begins now: its first fragment does.
    movie_av.av_opt_set(writer->format->priv_data, "movflags", "+frag_discont", 0);
  }
  return code;
}

bool movie_writer_write(movie_writer *writer, const movie_packet *from, char *error) {
  AVPacket *packet = writer->packet;
  int code = begin_packet(writer, from);
  if (code >= 0) code = movie_av.av_new_packet(packet, (int)from->count);
  if (code >= 0) {
    if (from->count > 0) memcpy(packet->data, from->bytes, (size_t)from->count);
    packet->stream_index = from->track;
    packet->pts = from->pts;
    packet->dts = from->dts;
    packet->duration = from->duration;
    packet->flags = from->is_key ? AV_PKT_FLAG_KEY : 0;
    movie_av.av_packet_rescale_ts(packet, (AVRational){from->scale_num, from->scale_den},
                                  writer->format->streams[from->track]->time_base);
    code = add_side_data(packet, from);
    if (code >= 0) code = movie_av.av_write_frame(writer->format, packet);
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
