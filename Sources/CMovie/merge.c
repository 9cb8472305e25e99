#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reader.h"

/// One file that packets come from.
typedef struct input {
  movie_reader *reader;
  /// The output's track for each of its tracks; -1 for those that are left out.
  int *map;
  bool has_packet;
  bool is_at_end;
} input;

static bool next_packet(input *input, int *code) {
  while (!input->has_packet && !input->is_at_end) {
    AVPacket *packet = input->reader->packet;
    const int result = movie_av.av_read_frame(input->reader->format, packet);
    if (result == AVERROR_EOF) {
      input->is_at_end = true;
    } else if (result < 0) {
      *code = result;
      return false;
    } else if (input->map[packet->stream_index] < 0) {
      movie_av.av_packet_unref(packet);
    } else {
      input->has_packet = true;
    }
  }
  return input->has_packet;
}

static int64_t time_of(const AVPacket *packet) {
  return packet->dts != AV_NOPTS_VALUE ? packet->dts : packet->pts != AV_NOPTS_VALUE ? packet->pts : INT64_MIN / 2;
}

/// The input whose packet comes first; -1 where all are at their ends.
static int earliest(input *inputs, int count, int *code) {
  int best = -1;
  for (int index = 0; index < count && *code >= 0; index++) {
    if (!next_packet(&inputs[index], code)) continue;
    const AVPacket *packet = inputs[index].reader->packet;
    if (best >= 0) {
      const AVPacket *other = inputs[best].reader->packet;
      const AVRational base = inputs[index].reader->format->streams[packet->stream_index]->time_base;
      const AVRational other_base = inputs[best].reader->format->streams[other->stream_index]->time_base;
      if (movie_av.av_compare_ts(time_of(packet), base, time_of(other), other_base) >= 0) continue;
    }
    best = index;
  }
  return best;
}

static int copy_packets(AVFormatContext *output, input *inputs, int count, bool (*is_cancelled)(void *), void *context) {
  int code = 0;
  for (int index; (index = earliest(inputs, count, &code)) >= 0;) {
    if (is_cancelled(context)) return AVERROR_EXIT;
    AVPacket *packet = inputs[index].reader->packet;
    const AVStream *from = inputs[index].reader->format->streams[packet->stream_index];
    packet->stream_index = inputs[index].map[packet->stream_index];
    movie_av.av_packet_rescale_ts(packet, from->time_base, output->streams[packet->stream_index]->time_base);
    packet->pos = -1;
    inputs[index].has_packet = false;
    code = movie_av.av_interleaved_write_frame(output, packet);
    if (code < 0) return code;
  }
  return code;
}

/// Makes the output's track for a track of an input.
static int add_track(AVFormatContext *output, const AVStream *from, const AVStream *described) {
  AVStream *stream = movie_av.avformat_new_stream(output, NULL);
  if (stream == NULL) return AVERROR(ENOMEM);
  stream->codecpar->codec_tag = 0;
  const int code = movie_av.avcodec_parameters_copy(stream->codecpar, from->codecpar);
  // A tag of another container means nothing here.
  stream->codecpar->codec_tag = 0;
  stream->time_base = from->time_base;
  stream->disposition = described->disposition;
  stream->sample_aspect_ratio = described->sample_aspect_ratio;
  stream->avg_frame_rate = described->avg_frame_rate;
  stream->r_frame_rate = described->r_frame_rate;
  movie_av.av_dict_copy(&stream->metadata, described->metadata, 0);
  return code;
}

/// Adds a name to those of what is left out, told apart by line breaks.
static void leave_out(char *dropped, const AVStream *stream, unsigned index, const char *what) {
  const size_t used = strlen(dropped);
  const AVDictionaryEntry *name = movie_av.av_dict_get(stream->metadata, "filename", NULL, 0);
  if (name == NULL) name = movie_av.av_dict_get(stream->metadata, "handler_name", NULL, 0);
  snprintf(dropped + used, MOVIE_DROPPED_BYTES - used, "%s%s %u (%s)", used > 0 ? "\n" : "", what, index,
           name != NULL ? name->value : movie_av.avcodec_get_name(stream->codecpar->codec_id));
}

/// Whether a track that is neither picture, sound nor subtitle goes into a format; names it in `dropped` where it does not.
static bool keeps(const AVOutputFormat *format, const AVStream *stream, unsigned index, char *dropped) {
  const bool is_matroska = strcmp(format->name, "matroska") == 0;
  if (stream->codecpar->codec_type == AVMEDIA_TYPE_ATTACHMENT) {
    if (!is_matroska) leave_out(dropped, stream, index, "attachment");
    return is_matroska;
  }
  if (stream->codecpar->codec_type != AVMEDIA_TYPE_DATA) return true;
  // The texts of chapters, which are written as chapters, and time codes, which the writer makes of the picture's.
  if (stream->discard == AVDISCARD_ALL || stream->codecpar->codec_tag == MKTAG('t', 'm', 'c', 'd')) return false;
  const bool is_kept = !is_matroska && stream->codecpar->codec_tag == MKTAG('g', 'p', 'm', 'd');
  if (!is_kept) leave_out(dropped, stream, index, "data track");
  return is_kept;
}

/// Copies the chapters: FFmpeg frees them with the output.
static int copy_chapters(AVFormatContext *output, const AVFormatContext *source) {
  if (source->nb_chapters == 0) return 0;
  output->chapters = movie_av.av_calloc(source->nb_chapters, sizeof *output->chapters);
  if (output->chapters == NULL) return AVERROR(ENOMEM);
  for (unsigned index = 0; index < source->nb_chapters; index++) {
    const AVChapter *from = source->chapters[index];
    AVChapter *chapter = movie_av.av_mallocz(sizeof *chapter);
    if (chapter == NULL) return AVERROR(ENOMEM);
    chapter->id = from->id;
    chapter->time_base = from->time_base;
    chapter->start = from->start;
    chapter->end = from->end;
    movie_av.av_dict_copy(&chapter->metadata, from->metadata, 0);
    output->chapters[output->nb_chapters++] = chapter;
  }
  return 0;
}

static int lay_out(AVFormatContext *output, input *inputs, const int32_t *tracks, int count, char *dropped) {
  const AVFormatContext *source = inputs[0].reader->format;
  int next = 0, rate = 0;
  for (unsigned index = 0; index < source->nb_streams; index++) {
    inputs[0].map[index] = -1;
    int sound = -1;
    for (int other = 0; other < count; other++) {
      if (tracks[other] == (int32_t)index) sound = other + 1;
    }
    if (sound < 0 && !keeps(output->oformat, source->streams[index], index, dropped)) continue;
    const AVStream *from = sound > 0 ? inputs[sound].reader->format->streams[0] : source->streams[index];
    const int code = add_track(output, from, source->streams[index]);
    if (code < 0) return code;
    if (sound > 0) {
      inputs[sound].map[0] = next;
      if (from->codecpar->sample_rate > rate) rate = from->codecpar->sample_rate;
    } else {
      inputs[0].map[index] = next;
    }
    next++;
  }
  movie_av.av_dict_copy(&output->metadata, source->metadata, 0);
  const int code = copy_chapters(output, source);
  return code < 0 ? code : rate;
}

bool movie_merge(const char *source, const char *path, const char *format, const int32_t *tracks,
                 const char *const *sounds, int32_t count, bool (*is_cancelled)(void *), void *context, char *dropped,
                 char *error) {
  input *inputs = calloc((size_t)count + 1, sizeof *inputs);
  AVFormatContext *output = NULL;
  bool is_done = false;
  if (inputs == NULL) return false;
  for (int index = 0; index <= count; index++) {
    inputs[index].reader = movie_open(index == 0 ? source : sounds[index - 1], error);
    if (inputs[index].reader == NULL) goto end;
    inputs[index].map = calloc(inputs[index].reader->format->nb_streams + 1, sizeof *inputs[index].map);
    if (inputs[index].map == NULL) goto end;
  }
  int code = movie_av.avformat_alloc_output_context2(&output, NULL, format, path);
  const int rate = code >= 0 ? lay_out(output, inputs, tracks, count, dropped) : code;
  code = rate;
  if (code >= 0) code = movie_av.avio_open(&output->pb, path, AVIO_FLAG_WRITE);
  if (code >= 0) {
    AVDictionary *options = NULL;
    // Edit lists are counted in the movie's time: it has to hold a sample.
    movie_av.av_dict_set_int(&options, "movie_timescale", rate > 0 ? rate : 1000, 0);
    code = movie_av.avformat_write_header(output, &options);
    movie_av.av_dict_free(&options);
    if (code < 0) {
      char what[96];
      snprintf(what, sizeof what, "a %s file does not hold these tracks", format);
      movie_tell(error, what, code);
      goto end;
    }
  }
  if (code >= 0) code = copy_packets(output, inputs, count + 1, is_cancelled, context);
  if (code >= 0) code = movie_av.av_write_trailer(output);
  if (code >= 0) code = movie_av.avio_closep(&output->pb);
  if (code < 0) movie_tell(error, "the movie cannot be written", code);
  is_done = code >= 0;
end:
  if (output != NULL) {
    if (output->pb != NULL) movie_av.avio_closep(&output->pb);
    movie_av.avformat_free_context(output);
  }
  for (int index = 0; index <= count; index++) {
    if (inputs[index].reader != NULL) movie_close(inputs[index].reader);
    free(inputs[index].map);
  }
  free(inputs);
  return is_done;
}
