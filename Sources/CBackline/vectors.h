// Eight floats at a time. Code written with them is compiled twice where the processor may have registers of that width, and
// the better one chosen when it is called: the same operations in the same order, so the same bits.
#pragma once

#include <stdint.h>
#include <string.h>

#define ALWAYS_INLINE inline __attribute__((always_inline))

typedef float Eight __attribute__((ext_vector_type(8)));

/// Reads eight samples from anywhere.
#define LOAD_EIGHT(from)                                                                                               \
  ({                                                                                                                   \
    Eight loaded;                                                                                                      \
    memcpy(&loaded, from, sizeof loaded);                                                                              \
    loaded;                                                                                                            \
  })

/// Writes eight samples to anywhere.
#define STORE_EIGHT(to, value)                                                                                         \
  ({                                                                                                                   \
    const Eight stored = (value);                                                                                      \
    memcpy(to, &stored, sizeof stored);                                                                                \
  })

/// Reads the first eight of `count` samples; where there are fewer, the others are zero.
#define LOAD_SOME(from, count)                                                                                         \
  ({                                                                                                                   \
    Eight some = 0;                                                                                                    \
    if ((count) >= 8) some = LOAD_EIGHT(from);                                                                         \
    else for (int lane = 0; lane < (count); lane++) some[lane] = (from)[lane];                                         \
    some;                                                                                                              \
  })

/// Writes the first eight of `count` samples, or as many as there are.
#define STORE_SOME(to, value, count)                                                                                   \
  ({                                                                                                                   \
    const Eight some = (value);                                                                                        \
    if ((count) >= 8) STORE_EIGHT(to, some);                                                                           \
    else for (int lane = 0; lane < (count); lane++) (to)[lane] = some[lane];                                           \
  })

/// Turns eight vectors of eight: the lanes of the i-th become the i-th lanes.
#define TRANSPOSE_EIGHT(v)                                                                                             \
  do {                                                                                                                 \
    Eight pairs[8], fours[8];                                                                                          \
    UNROLLED for (int i = 0; i < 4; i++) {                                                                             \
      pairs[2 * i] = __builtin_shufflevector(v[2 * i], v[2 * i + 1], 0, 8, 1, 9, 4, 12, 5, 13);                        \
      pairs[2 * i + 1] = __builtin_shufflevector(v[2 * i], v[2 * i + 1], 2, 10, 3, 11, 6, 14, 7, 15);                  \
    }                                                                                                                  \
    UNROLLED for (int i = 0; i < 2; i++) {                                                                             \
      for (int j = 0; j < 2; j++) {                                                                                    \
        const Eight a = pairs[4 * i + j], b = pairs[4 * i + j + 2];                                                    \
        fours[4 * i + 2 * j] = __builtin_shufflevector(a, b, 0, 1, 8, 9, 4, 5, 12, 13);                                \
        fours[4 * i + 2 * j + 1] = __builtin_shufflevector(a, b, 2, 3, 10, 11, 6, 7, 14, 15);                          \
      }                                                                                                                \
    }                                                                                                                  \
    UNROLLED for (int i = 0; i < 4; i++) {                                                                             \
      v[i] = __builtin_shufflevector(fours[i], fours[i + 4], 0, 1, 2, 3, 8, 9, 10, 11);                                \
      v[i + 4] = __builtin_shufflevector(fours[i], fours[i + 4], 4, 5, 6, 7, 12, 13, 14, 15);                          \
    }                                                                                                                  \
  } while (0)

#define UNROLLED _Pragma("clang loop unroll(full)")

/// Defines the function `name`, which calls `name_body` as it is compiled for the processor at hand.
#if defined(__x86_64__)
#define WIDE_FUNCTION(name, parameters, arguments)                                                                     \
  __attribute__((target("avx2"))) static void name##_wide parameters { name##_body arguments; }                        \
  void name parameters {                                                                                               \
    if (__builtin_cpu_supports("avx2")) name##_wide arguments;                                                         \
    else name##_body arguments;                                                                                        \
  }
#else
#define WIDE_FUNCTION(name, parameters, arguments)                                                                     \
  void name parameters { name##_body arguments; }
#endif
