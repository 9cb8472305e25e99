#define _GNU_SOURCE
#include "CBackline.h"

#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__has_feature)
#if __has_feature(realtime_sanitizer)
#define BACKLINE_RTSAN 1
extern void __rtsan_disable(void);
extern void __rtsan_enable(void);
#endif
#endif

void backline_park(uint32_t *word, uint32_t ticket) {
  // A change of the word, a wake, or a signal: whoever parks looks for work again in any case.
  syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, ticket, NULL, NULL, 0);
}

void backline_unpark(uint32_t *word, int32_t count) {
#ifdef BACKLINE_RTSAN
  __rtsan_disable();  // the design's one exception: FUTEX_WAKE does not block
#endif
  __atomic_add_fetch(word, 1, __ATOMIC_SEQ_CST);
  syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, count, NULL, NULL, 0);
#ifdef BACKLINE_RTSAN
  __rtsan_enable();
#endif
}

void backline_yield(void) {
#ifdef BACKLINE_RTSAN
  __rtsan_disable();
#endif
  sched_yield();
#ifdef BACKLINE_RTSAN
  __rtsan_enable();
#endif
}

bool backline_is_realtime(void) {
  int policy;
  struct sched_param parameters;
  if (pthread_getschedparam(pthread_self(), &policy, &parameters) != 0) return false;
  return policy == SCHED_FIFO || policy == SCHED_RR;
}

int32_t backline_usable_processors(void) {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
  long online = sysconf(_SC_NPROCESSORS_ONLN);
  return online > 0 && online < INT_MAX ? (int32_t)online : 1;
}
