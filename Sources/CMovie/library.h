// FFmpeg's functions by pointers, so that nothing is linked.
#pragma once

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/channel_layout.h>
#include <libavutil/opt.h>

#define FORMAT_FUNCTIONS(F)                                                                                            \
  F(avformat_open_input)                                                                                               \
  F(avformat_find_stream_info)                                                                                         \
  F(avformat_close_input)                                                                                              \
  F(av_read_frame)                                                                                                     \
  F(avformat_alloc_output_context2)                                                                                    \
  F(avformat_new_stream)                                                                                               \
  F(avformat_write_header)                                                                                             \
  F(av_write_frame)                                                                                                    \
  F(av_interleaved_write_frame)                                                                                        \
  F(av_write_trailer)                                                                                                  \
  F(avformat_free_context)                                                                                             \
  F(avformat_query_codec)                                                                                              \
  F(avio_close_dyn_buf)                                                                                                \
  F(avio_open_dyn_buf)                                                                                                 \
  F(avio_flush)                                                                                                        \
  F(avio_open)                                                                                                         \
  F(avio_closep)
#define CODEC_FUNCTIONS(F)                                                                                             \
  F(avcodec_find_decoder)                                                                                              \
  F(avcodec_find_encoder_by_name)                                                                                      \
  F(avcodec_find_encoder)                                                                                              \
  F(avcodec_alloc_context3)                                                                                            \
  F(avcodec_free_context)                                                                                              \
  F(avcodec_open2)                                                                                                     \
  F(avcodec_parameters_to_context)                                                                                     \
  F(avcodec_parameters_from_context)                                                                                   \
  F(avcodec_parameters_copy)                                                                                           \
  F(avcodec_send_packet)                                                                                               \
  F(avcodec_receive_frame)                                                                                             \
  F(avcodec_send_frame)                                                                                                \
  F(avcodec_receive_packet)                                                                                            \
  F(avcodec_get_name)                                                                                                  \
  F(av_packet_new_side_data)                                                                                           \
  F(av_packet_get_side_data)                                                                                           \
  F(av_packet_alloc)                                                                                                   \
  F(av_packet_free)                                                                                                    \
  F(av_packet_unref)                                                                                                   \
  F(av_packet_rescale_ts)                                                                                              \
  F(av_new_packet)
#define UTIL_FUNCTIONS(F)                                                                                              \
  F(av_calloc)                                                                                                         \
  F(av_mallocz)                                                                                                        \
  F(av_free)                                                                                                           \
  F(av_frame_alloc)                                                                                                    \
  F(av_frame_free)                                                                                                     \
  F(av_frame_unref)                                                                                                    \
  F(av_frame_get_buffer)                                                                                               \
  F(av_frame_make_writable)                                                                                            \
  F(av_rescale_q)                                                                                                      \
  F(av_compare_ts)                                                                                                     \
  F(av_strerror)                                                                                                       \
  F(av_opt_set)                                                                                                        \
  F(av_dict_get)                                                                                                       \
  F(av_dict_set)                                                                                                       \
  F(av_dict_set_int)                                                                                                   \
  F(av_dict_copy)                                                                                                      \
  F(av_dict_free)                                                                                                      \
  F(av_log_set_level)                                                                                                  \
  F(av_channel_layout_default)                                                                                         \
  F(av_channel_layout_copy)                                                                                            \
  F(av_channel_layout_compare)                                                                                         \
  F(av_frame_get_plane_buffer)

#define DECLARE(name) __typeof__(name) *name;
typedef struct movie_library {
  FORMAT_FUNCTIONS(DECLARE)
  CODEC_FUNCTIONS(DECLARE)
  UTIL_FUNCTIONS(DECLARE)
} movie_library;
#undef DECLARE

/// Filled by `movie_load`.
extern movie_library movie_av;

/// Writes "what: FFmpeg's reason" to `error`.
void movie_tell(char *error, const char *what, int code);

/// A packet for Swift, which lasts as long as FFmpeg's.
struct movie_packet;
void movie_describe(const AVPacket *from, AVRational base, struct movie_packet *packet);
