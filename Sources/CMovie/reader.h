#pragma once

#include "CMovie.h"
#include "library.h"

struct movie_reader {
  AVFormatContext *format;
  AVCodecContext *decoder;
  AVPacket *packet;
  AVFrame *frame;
  int track;
  /// Where the present frame has been read up to, and the place in the track of what is read next.
  int64_t used;
  int64_t place;
  int64_t first;
  /// The place at which the track ends by its container, which tells it exactly where a lossy codec's packets do not.
  int64_t end;
  /// Silence that stands for what is missing before the present frame.
  int64_t missing;
  bool is_at_end;
};

/// What a track of texts with times is called in a file, which is how it is known again where a format has no other mark.
extern const char *const movie_text_name;
