#define _GNU_SOURCE
#include "CBackline.h"

#include <pthread.h>
#include <sched.h>
#include <time.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#if defined(__has_feature)
#if __has_feature(realtime_sanitizer)
#define BACKLINE_RTSAN 1
extern void __rtsan_realtime_enter(void);
extern void __rtsan_realtime_exit(void);
extern void __rtsan_disable(void);
extern void __rtsan_enable(void);
#endif
#endif

uint32_t backline_flush_denormals(void) {
#if defined(__x86_64__)
  uint32_t before = _mm_getcsr();
  _mm_setcsr(before | 0x8040u);  // FTZ is bit 15, DAZ bit 6
  return before;
#elif defined(__aarch64__)
  uint64_t before;
  __asm__ volatile("mrs %0, fpcr" : "=r"(before));
  __asm__ volatile("msr fpcr, %0" ::"r"(before | (1u << 24)));
  return (uint32_t)before;
#else
#error "flush-to-zero is not known for this processor"
#endif
}

void backline_restore_denormals(uint32_t state) {
#if defined(__x86_64__)
  _mm_setcsr(state);
#else
  __asm__ volatile("msr fpcr, %0" ::"r"((uint64_t)state));
#endif
}

int32_t backline_thread_id(void) { return (int32_t)gettid(); }

void backline_pause(void) { usleep(100); }

void backline_realtime_enter(void) {
#ifdef BACKLINE_RTSAN
  __rtsan_realtime_enter();
#endif
}

void backline_realtime_exit(void) {
#ifdef BACKLINE_RTSAN
  __rtsan_realtime_exit();
#endif
}

void backline_wake(int32_t eventDescriptor) {
#ifdef BACKLINE_RTSAN
  __rtsan_disable();  // the design's one exception: a write to a non-blocking eventfd
#endif
  uint64_t one = 1;
  ssize_t written = write(eventDescriptor, &one, sizeof one);
  (void)written;  // a full counter means that the reader is awake already
#ifdef BACKLINE_RTSAN
  __rtsan_enable();
#endif
}

static int64_t read_clock(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

int64_t backline_now(void) { return read_clock(CLOCK_MONOTONIC); }

int64_t backline_wall_time(void) { return read_clock(CLOCK_REALTIME); }

bool backline_set_realtime_priority(int32_t priority) {
  struct sched_param parameters = {.sched_priority = priority};
  return pthread_setschedparam(pthread_self(), SCHED_FIFO, &parameters) == 0;
}

void backline_name_thread(const char *name) { pthread_setname_np(pthread_self(), name); }
