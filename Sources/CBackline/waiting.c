#define _GNU_SOURCE
#include "CBackline.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

enum { MOST_EVENTS = 64 };

int32_t backline_poll_create(void) { return epoll_create1(EPOLL_CLOEXEC); }

int32_t backline_poll_add(int32_t poll, int32_t descriptor) {
  struct epoll_event event = {.events = EPOLLIN | EPOLLRDHUP, .data.fd = descriptor};
  if (epoll_ctl(poll, EPOLL_CTL_ADD, descriptor, &event) == 0) return 0;
  return epoll_ctl(poll, EPOLL_CTL_MOD, descriptor, &event);
}

void backline_poll_remove(int32_t poll, int32_t descriptor) {
  struct epoll_event unused = {0};
  epoll_ctl(poll, EPOLL_CTL_DEL, descriptor, &unused);
}

int32_t backline_poll_wait(int32_t poll, int32_t *ready, int32_t capacity, int64_t nanoseconds) {
  struct epoll_event events[MOST_EVENTS];
  struct timespec time = {.tv_sec = nanoseconds / 1000000000, .tv_nsec = nanoseconds % 1000000000};
  int32_t count =
      epoll_pwait2(poll, events, capacity < MOST_EVENTS ? capacity : MOST_EVENTS, nanoseconds < 0 ? NULL : &time, NULL);
  for (int32_t i = 0; i < count; i++) ready[i] = events[i].data.fd;
  return count < 0 ? 0 : count;
}

int32_t backline_event_create(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }

void backline_event_clear(int32_t descriptor) {
  uint64_t counter;
  ssize_t taken = read(descriptor, &counter, sizeof counter);
  (void)taken;  // nothing to take is as good
}

int32_t backline_pipe(int32_t *ends) { return pipe2(ends, O_CLOEXEC); }
