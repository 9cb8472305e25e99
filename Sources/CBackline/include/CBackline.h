// What Swift cannot say: C structures that cross a C function pointer, and C functions that the compiler may let
// render code call. Everything marked REALTIME_SAFE neither allocates, locks nor waits.
#pragma once

#include "CBacklineFiles.h"
#include "CBacklineSamples.h"
#include "CBacklineSockets.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "BlockRings.h"
#include "ConvolutionKernel.h"
#include "DelayKernel.h"
#include "DynamicsKernel.h"
#include "FilterKernels.h"
#include "ReverbKernel.h"
#include "SectionCascade.h"
#include "Shaper.h"
#include "StateVariable.h"
#include "StereoVector.h"
#include "TapeKernel.h"
#include "TruePeak.h"

#define REALTIME_SAFE __attribute__((swift_attr("@_noLocks"))) __attribute__((swift_attr("@_noAllocation")))

// MARK: Rendering

/// One bus for the length of one block: `channelCount` pointers to `RenderBlock.frameCount` samples each.
typedef struct BusBuffer {
  float *_Nonnull const *_Nonnull channels;
  int32_t channelCount;
  /// False for an input bus that nothing is connected to. Its channels are readable and silent.
  bool isConnected;
  /// A hint: true means that every sample is zero. A unit may set it on an output bus it leaves unwritten.
  bool isSilent;
} BusBuffer;

/// What a unit renders in one call. `frame` is absolute: it counts from the engine's start and never wraps.
typedef struct RenderBlock {
  int64_t frame;
  int32_t frameCount;
  int32_t inputCount;
  int32_t outputCount;
  const BusBuffer *_Nullable inputs;
  BusBuffer *_Nullable outputs;
} RenderBlock;

typedef void (*UnitRender)(void *_Nonnull state, const RenderBlock *_Nonnull block);
typedef void (*UnitAccumulate)(void *_Nonnull state, int32_t bus, bool isFirst, const RenderBlock *_Nonnull block);
typedef void (*UnitSet)(void *_Nonnull state, int32_t parameter, float value, int32_t rampFrames);
typedef void (*UnitReset)(void *_Nonnull state);
typedef int64_t (*UnitTail)(void *_Nonnull state);

REALTIME_SAFE static inline void backline_render(UnitRender _Nonnull function, void *_Nonnull state,
                                                 const RenderBlock *_Nonnull block) {
  function(state, block);
}
REALTIME_SAFE static inline void backline_accumulate(UnitAccumulate _Nonnull function, void *_Nonnull state,
                                                     int32_t bus, bool isFirst, const RenderBlock *_Nonnull block) {
  function(state, bus, isFirst, block);
}
REALTIME_SAFE static inline void backline_set(UnitSet _Nonnull function, void *_Nonnull state, int32_t parameter,
                                              float value, int32_t rampFrames) {
  function(state, parameter, value, rampFrames);
}
REALTIME_SAFE static inline void backline_reset(UnitReset _Nonnull function, void *_Nonnull state) {
  function(state);
}
REALTIME_SAFE static inline int64_t backline_tail(UnitTail _Nonnull function, void *_Nonnull state) {
  return function(state);
}

// MARK: Mathematics

REALTIME_SAFE static inline float backline_sinf(float x) { return sinf(x); }
REALTIME_SAFE static inline float backline_cosf(float x) { return cosf(x); }
REALTIME_SAFE static inline float backline_tanf(float x) { return tanf(x); }
REALTIME_SAFE static inline float backline_expf(float x) { return expf(x); }
REALTIME_SAFE static inline float backline_exp2f(float x) { return exp2f(x); }
REALTIME_SAFE static inline float backline_logf(float x) { return logf(x); }
REALTIME_SAFE static inline float backline_log2f(float x) { return log2f(x); }
REALTIME_SAFE static inline float backline_log10f(float x) { return log10f(x); }
REALTIME_SAFE static inline float backline_powf(float x, float y) { return powf(x, y); }
REALTIME_SAFE static inline float backline_floorf(float x) { return floorf(x); }
REALTIME_SAFE static inline float backline_tanhf(float x) { return tanhf(x); }
REALTIME_SAFE static inline double backline_sin(double x) { return sin(x); }
REALTIME_SAFE static inline double backline_cos(double x) { return cos(x); }
REALTIME_SAFE static inline double backline_tan(double x) { return tan(x); }
REALTIME_SAFE static inline double backline_atan(double x) { return atan(x); }
REALTIME_SAFE static inline double backline_exp(double x) { return exp(x); }
REALTIME_SAFE static inline double backline_log(double x) { return log(x); }
REALTIME_SAFE static inline double backline_pow(double x, double y) { return pow(x, y); }
REALTIME_SAFE static inline double backline_sqrt(double x) { return sqrt(x); }
REALTIME_SAFE static inline double backline_floor(double x) { return floor(x); }
REALTIME_SAFE static inline double backline_tanh(double x) { return tanh(x); }
REALTIME_SAFE static inline double backline_atan2(double y, double x) { return atan2(y, x); }

// MARK: Memory

REALTIME_SAFE static inline void backline_copy(float *_Nonnull to, const float *_Nonnull from, int64_t count) {
  memcpy(to, from, (size_t)count * sizeof(float));
}
REALTIME_SAFE static inline void backline_zero(float *_Nonnull to, int64_t count) {
  memset(to, 0, (size_t)count * sizeof(float));
}

/// Asks for the first `lines` cache lines of what will be needed soon.
REALTIME_SAFE static inline void backline_prefetch(const void *_Nonnull at, int32_t lines) {
  for (int32_t line = 0; line < lines; line++) __builtin_prefetch((const char *)at + 64 * line, 1, 3);
}

/// Relaxed stores and loads of values that one thread writes and any thread may read.
REALTIME_SAFE static inline void backline_store_float(float *_Nonnull at, float value) {
  __atomic_store(at, &value, __ATOMIC_RELAXED);
}
REALTIME_SAFE static inline float backline_load_float(const float *_Nonnull at) {
  float value;
  __atomic_load(at, &value, __ATOMIC_RELAXED);
  return value;
}
REALTIME_SAFE static inline void backline_store_int(int64_t *_Nonnull at, int64_t value) {
  __atomic_store_n(at, value, __ATOMIC_RELAXED);
}
REALTIME_SAFE static inline int64_t backline_load_int(const int64_t *_Nonnull at) {
  return __atomic_load_n(at, __ATOMIC_RELAXED);
}

/// True when one of `count` samples is not finite: when all bits of its exponent are set.
REALTIME_SAFE bool backline_has_non_finite(const float *_Nonnull samples, int64_t count);

/// Samples times `gain`, plus zero: which makes a negative zero positive.
REALTIME_SAFE void backline_scale(float *_Nonnull to, const float *_Nonnull from, float gain, int64_t count);

/// The number of samples up to and including the last that is not zero; 0 when all are.
REALTIME_SAFE static inline int64_t backline_active_length(const float *_Nonnull samples, int64_t count) {
  while (count > 0 && samples[count - 1] == 0.0f) count--;
  return count;
}

// MARK: Threads

/// Sets flush-to-zero and denormals-are-zero on this thread; returns what was set before.
REALTIME_SAFE uint32_t backline_flush_denormals(void);
/// Puts back what `backline_flush_denormals` returned.
REALTIME_SAFE void backline_restore_denormals(uint32_t state);

/// Marks the body of a render cycle for RealtimeSanitizer; empty in builds without it.
REALTIME_SAFE void backline_realtime_enter(void);
REALTIME_SAFE void backline_realtime_exit(void);

/// Wakes whoever waits on the event descriptor. Never blocks: the render thread's one system call.
REALTIME_SAFE void backline_wake(int32_t eventDescriptor);

/// CLOCK_MONOTONIC in nanoseconds, read through the vDSO.
REALTIME_SAFE int64_t backline_now(void);
/// CLOCK_REALTIME in nanoseconds since 1970.
int64_t backline_wall_time(void);

/// Gives the processor away for a tenth of a millisecond.
void backline_pause(void);

/// Gives this thread SCHED_FIFO at `priority`; false when the system refuses.
bool backline_set_realtime_priority(int32_t priority);

// MARK: Threads that render together

/// What a parked thread has seen of the word that it parks on: a later change keeps it from parking.
REALTIME_SAFE static inline uint32_t backline_park_ticket(const uint32_t *_Nonnull word) {
  return __atomic_load_n(word, __ATOMIC_SEQ_CST);
}
/// Waits until the word is no longer `ticket` or the thread is woken; may return for no reason. Not for a host's render thread.
void backline_park(uint32_t *_Nonnull word, uint32_t ticket);
/// Wakes up to `count` threads that are parked on the word. Never blocks: with `backline_wake`, all that a render thread asks of
/// the system.
REALTIME_SAFE void backline_unpark(uint32_t *_Nonnull word, int32_t count);
/// Tells the processor that this thread spins.
REALTIME_SAFE static inline void backline_relax(void) {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}
/// Lets other threads have the processor. Only where no deadline runs: a thread with real-time scheduling never calls it.
REALTIME_SAFE void backline_yield(void);
/// True when this thread has real-time scheduling.
bool backline_is_realtime(void);
/// The processors that this process may use.
int32_t backline_usable_processors(void);

// MARK: Waiting

/// An epoll descriptor, or -1.
int32_t backline_poll_create(void);
/// A descriptor that is ready, and what for. One that has been closed by its peer or has failed is ready for both.
typedef struct ReadyDescriptor {
  int32_t descriptor;
  bool isReadable;
  bool isWritable;
} ReadyDescriptor;
/// Watches `descriptor` for input and hang-up, for room to write, or for both, in place of what it was watched for; 0 or -1.
int32_t backline_poll_set(int32_t poll, int32_t descriptor, bool forReading, bool forWriting);
void backline_poll_remove(int32_t poll, int32_t descriptor);
/// Waits until one of the descriptors is ready or `nanoseconds` have passed (for ever where negative). Fills `ready` with
/// up to `capacity` descriptors and returns how many.
int32_t backline_poll_wait(int32_t poll, ReadyDescriptor *_Nonnull ready, int32_t capacity, int64_t nanoseconds);
/// A non-blocking eventfd, or -1.
int32_t backline_event_create(void);
/// Takes the count out of an eventfd.
void backline_event_clear(int32_t descriptor);
/// A pipe, its reading end first, that no program started meanwhile by another thread inherits; 0 or -1.
int32_t backline_pipe(int32_t *_Nonnull ends);
/// The kernel's number of this thread.
int32_t backline_thread_id(void);

/// Names this thread, in at most 15 bytes.
void backline_name_thread(const char *_Nonnull name);

// MARK: Hosts

/// What a host hands to the engine in one callback: any number of frames, one pointer a port.
typedef struct HostCycle {
  const float *_Nonnull const *_Nullable inputs;
  float *_Nonnull const *_Nullable outputs;
  int32_t inputCount;
  int32_t outputCount;
  int32_t frameCount;
  /// Frames that the host's server has lost right before this cycle: time that nobody has rendered.
  int32_t lostFrames;
} HostCycle;

/// Renders one cycle; called on the host's render thread.
typedef void (*HostRender)(void *_Nonnull state, const HostCycle *_Nonnull cycle);

REALTIME_SAFE static inline void backline_render_cycle(HostRender _Nonnull function, void *_Nonnull state,
                                                       const HostCycle *_Nonnull cycle) {
  function(state, cycle);
}
