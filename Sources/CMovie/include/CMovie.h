// Movies through FFmpeg's libavformat and libavcodec, which are loaded when the first one is opened: linking them would cost
// every start 40 ms and 26 MiB.
//
// A handle is used by one thread at a time. Functions that can fail write one sentence to `error`.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define MOVIE_ERROR_BYTES 256
#define MOVIE_DROPPED_BYTES 4096

typedef enum movie_kind { movie_video = 0, movie_audio = 1, movie_subtitle = 2, movie_data = 3 } movie_kind;

/// One track of a movie.
typedef struct movie_track {
  movie_kind kind;
  /// Frames a second and channels, of sound.
  int32_t sample_rate;
  int32_t channels;
  /// In seconds, as a fraction; the denominator is 0 where it is not known.
  int64_t duration;
  int64_t duration_scale;
  /// The codec by FFmpeg's name.
  char codec[32];
} movie_track;

typedef struct movie_reader movie_reader;
typedef struct movie_encoder movie_encoder;

/// True where FFmpeg's libraries are there in the version that this was built for.
bool movie_load(char *_Nonnull error);

movie_reader *_Nullable movie_open(const char *_Nonnull path, char *_Nonnull error);
void movie_close(movie_reader *_Nonnull reader);
int32_t movie_track_count(const movie_reader *_Nonnull reader);
movie_track movie_track_at(const movie_reader *_Nonnull reader, int32_t index);
/// Has `movie_read` give the sound of a track; false where it cannot be decoded.
bool movie_select(movie_reader *_Nonnull reader, int32_t index, char *_Nonnull error);
/// Up to `count` interleaved frames: how many, 0 at the end, -1 where it is broken. What is missing between packets is silence.
int64_t movie_read(movie_reader *_Nonnull reader, float *_Nonnull samples, int64_t count, char *_Nonnull error);
/// The place of the first frame in frames of the track, counted from the movie's zero; after the first read.
int64_t movie_first_frame(const movie_reader *_Nonnull reader);

/// Encodes sound as the track of `source` is kept, into a file of its own of the format `format`, which is refused where it does
/// not hold that. `first_frame` is the place of the first frame, in frames of `sample_rate`.
movie_encoder *_Nullable movie_encoder_create(const char *_Nonnull path, const char *_Nonnull format,
                                              const movie_reader *_Nonnull source, int32_t track, int32_t sample_rate,
                                              int32_t channels, int64_t first_frame, char *_Nonnull error);
/// Takes interleaved frames; false where they cannot be written.
bool movie_encode(movie_encoder *_Nonnull encoder, const float *_Nonnull samples, int64_t count, char *_Nonnull error);
/// Ends the file; false where it cannot be ended.
bool movie_encoder_finish(movie_encoder *_Nonnull encoder, char *_Nonnull error);
void movie_encoder_free(movie_encoder *_Nonnull encoder);

/// Writes a movie of the format `format` to `path`: the tracks of `source`, in their order, those of `tracks` replaced by the
/// sound of the files `sounds`; all packets as they are. `is_cancelled` is asked now and then. `dropped`, of `MOVIE_DROPPED_BYTES`, gets
/// the names of what the format does not hold, a line each.
bool movie_merge(const char *_Nonnull source, const char *_Nonnull path, const char *_Nonnull format,
                 const int32_t *_Nonnull tracks, const char *_Nonnull const *_Nonnull sounds, int32_t count,
                 bool (*_Nonnull is_cancelled)(void *_Nullable), void *_Nullable context, char *_Nonnull dropped,
                 char *_Nonnull error);

// Coded samples, as they are.

/// One packet. Times count in `scale_num / scale_den` seconds; `INT64_MIN` where they are not known.
typedef struct movie_packet {
  int32_t track;
  int64_t pts;
  int64_t dts;
  int64_t duration;
  int32_t scale_num;
  int32_t scale_den;
  bool is_key;
  /// Frames at the packet's end that belong to no sound: what fills an encoder's last packet up.
  int32_t padding;
  const uint8_t *_Nullable bytes;
  int64_t count;
  /// What a decoder has to know, where that has changed with this packet.
  const uint8_t *_Nullable setup;
  int64_t setup_count;
} movie_packet;

typedef struct movie_writer movie_writer;
typedef struct movie_codec movie_codec;

/// An encoder of sound by FFmpeg's name; `NULL` where it is not there or does not take such sound. `bit_rate` 0 is its usual one, `bits`
/// how many of a sample are kept, 0 for all.
movie_codec *_Nullable movie_codec_create(const char *_Nonnull name, int32_t rate, int32_t channels, int64_t bit_rate,
                                          int32_t bits, char *_Nonnull error);
void movie_codec_free(movie_codec *_Nonnull codec);
/// The place of the first frame, which is told before it comes.
void movie_codec_begin(movie_codec *_Nonnull codec, int64_t first_frame);
/// The frames that an encoder puts before the first.
int32_t movie_codec_padding(const movie_codec *_Nonnull codec);
/// Takes interleaved frames, not more than make a packet: how many, -1 where it fails. Packets are taken out after each call.
int64_t movie_codec_put(movie_codec *_Nonnull codec, const float *_Nonnull samples, int64_t count, char *_Nonnull error);
bool movie_codec_end(movie_codec *_Nonnull codec, char *_Nonnull error);
/// The next packet: 1, 0 where there is none now, -1 where it fails. Its bytes last until the next call.
int32_t movie_codec_get(movie_codec *_Nonnull codec, movie_packet *_Nonnull packet, char *_Nonnull error);
/// Whether a format holds what an encoder makes: tried out, since the tables of codecs say more than is so.
bool movie_codec_fits(const char *_Nonnull format, const movie_codec *_Nonnull codec, char *_Nonnull error);

/// The next packet of any track, in the order of the file: 1, 0 at the end, -1 where it is broken. Its bytes last until the next.
int32_t movie_next_packet(movie_reader *_Nonnull reader, movie_packet *_Nonnull packet, char *_Nonnull error);

/// Whether a format holds a track's codec.
bool movie_format_holds(const char *_Nonnull format, const movie_reader *_Nonnull reader, int32_t track);
movie_writer *_Nullable movie_writer_create(const char *_Nonnull path, const char *_Nonnull format,
                                            char *_Nonnull error);
/// Adds a track for packets such as those of a reader's track: its number, -1 where that cannot be. Before `begin`.
int32_t movie_writer_add(movie_writer *_Nonnull writer, const movie_reader *_Nonnull reader, int32_t track);
/// Adds a track for the packets of an encoder.
int32_t movie_writer_add_codec(movie_writer *_Nonnull writer, const movie_codec *_Nonnull codec);
/// Adds a track of texts with times: timed text in MP4 and MOV, which count its times in `timescale`, WebVTT metadata in Matroska.
int32_t movie_writer_add_text(movie_writer *_Nonnull writer, int32_t timescale);
/// Writes the header. `fragment` is the milliseconds after which what there is can be read when nothing follows any more; 0 where
/// that is not needed.
bool movie_writer_begin(movie_writer *_Nonnull writer, int32_t timescale, int64_t fragment, char *_Nonnull error);
/// Writes a packet now; its times are converted to the track's, once.
bool movie_writer_write(movie_writer *_Nonnull writer, const movie_packet *_Nonnull packet, char *_Nonnull error);
bool movie_writer_finish(movie_writer *_Nonnull writer, char *_Nonnull error);
void movie_writer_free(movie_writer *_Nonnull writer);
