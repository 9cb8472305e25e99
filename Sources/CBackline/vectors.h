// Eight or sixteen floats at a time. Code written with them is compiled again for processors that have registers of that
// width, and the best one chosen when it is called: the same operations in the same order, so the same bits.
#pragma once

#include <stdint.h>
#include <string.h>

#define ALWAYS_INLINE inline __attribute__((always_inline))

typedef float Eight __attribute__((ext_vector_type(8)));
typedef float Sixteen __attribute__((ext_vector_type(16)));

/// Reads a vector of samples from anywhere.
#define LOAD_SIXTEEN(from)                                                                                             \
  ({                                                                                                                   \
    Sixteen loaded;                                                                                                    \
    memcpy(&loaded, from, sizeof loaded);                                                                              \
    loaded;                                                                                                            \
  })

/// Writes a vector of samples to anywhere.
#define STORE_SIXTEEN(to, value)                                                                                       \
  ({                                                                                                                   \
    const Sixteen stored = (value);                                                                                    \
    memcpy(to, &stored, sizeof stored);                                                                                \
  })

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

/// Turns eight vectors of sixteen, their lower and their upper halves each by themselves: in a half, the lanes of the i-th
/// become the i-th lanes.
#define TRANSPOSE_HALVES(v)                                                                                            \
  do {                                                                                                                 \
    Sixteen pairs[8], fours[8];                                                                                        \
    UNROLLED for (int i = 0; i < 4; i++) {                                                                             \
      const Sixteen a = v[2 * i], b = v[2 * i + 1];                                                                    \
      pairs[2 * i] = __builtin_shufflevector(a, b, 0, 16, 1, 17, 4, 20, 5, 21, 8, 24, 9, 25, 12, 28, 13, 29);          \
      pairs[2 * i + 1] = __builtin_shufflevector(a, b, 2, 18, 3, 19, 6, 22, 7, 23, 10, 26, 11, 27, 14, 30, 15, 31);    \
    }                                                                                                                  \
    UNROLLED for (int i = 0; i < 2; i++) {                                                                             \
      UNROLLED for (int j = 0; j < 2; j++) {                                                                           \
        const Sixteen a = pairs[4 * i + j], b = pairs[4 * i + j + 2];                                                  \
        fours[4 * i + 2 * j] =                                                                                         \
            __builtin_shufflevector(a, b, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29);                   \
        fours[4 * i + 2 * j + 1] =                                                                                     \
            __builtin_shufflevector(a, b, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31);                 \
      }                                                                                                                \
    }                                                                                                                  \
    UNROLLED for (int i = 0; i < 4; i++) {                                                                             \
      const Sixteen a = fours[i], b = fours[i + 4];                                                                    \
      v[i] = __builtin_shufflevector(a, b, 0, 1, 2, 3, 16, 17, 18, 19, 8, 9, 10, 11, 24, 25, 26, 27);                  \
      v[i + 4] = __builtin_shufflevector(a, b, 4, 5, 6, 7, 20, 21, 22, 23, 12, 13, 14, 15, 28, 29, 30, 31);            \
    }                                                                                                                  \
  } while (0)

#define UNROLLED _Pragma("clang loop unroll(full)")

/// Defines the function `name`, which calls `name_body` as it is compiled for the processor at hand: vectors of eight.
/// `WIDEST_FUNCTION` does so for vectors of sixteen, too, and `WIDE_QUESTION` for a function that answers.
#if defined(__x86_64__)
#define WIDE_QUESTION(type, name, parameters, arguments)                                                               \
  __attribute__((target("avx2"))) static type name##_wide parameters { return name##_body arguments; }                 \
  type name parameters { return __builtin_cpu_supports("avx2") ? name##_wide arguments : name##_body arguments; }
#define WIDE_FUNCTION(name, parameters, arguments)                                                                     \
  __attribute__((target("avx2"))) static void name##_wide parameters { name##_body arguments; }                        \
  void name parameters {                                                                                               \
    if (__builtin_cpu_supports("avx2")) name##_wide arguments;                                                         \
    else name##_body arguments;                                                                                        \
  }
#define WIDEST_FUNCTION(name, parameters, arguments)                                                                   \
  __attribute__((target("avx512f,avx512vl,avx512dq"), min_vector_width(512))) static void name##_widest parameters {   \
    name##_body arguments;                                                                                             \
  }                                                                                                                    \
  __attribute__((target("avx2"))) static void name##_wide parameters { name##_body arguments; }                        \
  void name parameters {                                                                                               \
    if (__builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq")) name##_widest arguments;             \
    else if (__builtin_cpu_supports("avx2")) name##_wide arguments;                                                    \
    else name##_body arguments;                                                                                        \
  }
#else
#define WIDE_QUESTION(type, name, parameters, arguments)                                                               \
  type name parameters { return name##_body arguments; }
#define WIDE_FUNCTION(name, parameters, arguments)                                                                     \
  void name parameters { name##_body arguments; }
#define WIDEST_FUNCTION WIDE_FUNCTION
#endif
