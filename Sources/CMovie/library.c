#include "library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

#include "CMovie.h"

movie_library movie_av;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static char failure[MOVIE_ERROR_BYTES];

static void *open_library(const char *name, int version) {
  char file[64];
  snprintf(file, sizeof file, "lib%s.so.%d", name, version);
  void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (library == NULL && failure[0] == 0) {
    snprintf(failure, sizeof failure, "%s is not there: install FFmpeg's libraries (ffmpeg)", file);
  }
  return library;
}

static void *find(void *library, const char *name) {
  void *function = library != NULL ? dlsym(library, name) : NULL;
  if (function == NULL && failure[0] == 0) snprintf(failure, sizeof failure, "FFmpeg has no function %s", name);
  return function;
}

static void load(void) {
  void *util = open_library("avutil", LIBAVUTIL_VERSION_MAJOR);
  void *codec = open_library("avcodec", LIBAVCODEC_VERSION_MAJOR);
  void *format = open_library("avformat", LIBAVFORMAT_VERSION_MAJOR);
#define FIND_FORMAT(name) movie_av.name = (__typeof__(name) *)find(format, #name);
#define FIND_CODEC(name) movie_av.name = (__typeof__(name) *)find(codec, #name);
#define FIND_UTIL(name) movie_av.name = (__typeof__(name) *)find(util, #name);
  FORMAT_FUNCTIONS(FIND_FORMAT)
  CODEC_FUNCTIONS(FIND_CODEC)
  UTIL_FUNCTIONS(FIND_UTIL)
  if (failure[0] == 0) movie_av.av_log_set_level(AV_LOG_QUIET);
}

bool movie_load(char *error) {
  pthread_once(&once, load);
  if (failure[0] != 0) snprintf(error, MOVIE_ERROR_BYTES, "%s", failure);
  return failure[0] == 0;
}

void movie_tell(char *error, const char *what, int code) {
  char reason[128] = "";
  movie_av.av_strerror(code, reason, sizeof reason);
  snprintf(error, MOVIE_ERROR_BYTES, "%s: %s", what, reason);
}
