#define _GNU_SOURCE
#include "CBackline.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

enum { MOST_EVENTS = 64 };

int32_t backline_poll_create(void) { return epoll_create1(EPOLL_CLOEXEC); }

int32_t backline_poll_set(int32_t poll, int32_t descriptor, bool forReading, bool forWriting) {
  struct epoll_event event = {.data.fd = descriptor};
  if (forReading) event.events |= EPOLLIN | EPOLLRDHUP;
  if (forWriting) event.events |= EPOLLOUT;
  if (epoll_ctl(poll, EPOLL_CTL_MOD, descriptor, &event) == 0) return 0;
  return epoll_ctl(poll, EPOLL_CTL_ADD, descriptor, &event);
}

void backline_poll_remove(int32_t poll, int32_t descriptor) {
  struct epoll_event unused = {0};
  epoll_ctl(poll, EPOLL_CTL_DEL, descriptor, &unused);
}

int32_t backline_poll_wait(int32_t poll, ReadyDescriptor *ready, int32_t capacity, int64_t nanoseconds) {
  struct epoll_event events[MOST_EVENTS];
  struct timespec time = {.tv_sec = nanoseconds / 1000000000, .tv_nsec = nanoseconds % 1000000000};
  int32_t count =
      epoll_pwait2(poll, events, capacity < MOST_EVENTS ? capacity : MOST_EVENTS, nanoseconds < 0 ? NULL : &time, NULL);
  for (int32_t i = 0; i < count; i++) {
    uint32_t what = events[i].events;
    ready[i] = (ReadyDescriptor){.descriptor = events[i].data.fd,
                                 .isReadable = (what & (EPOLLIN | EPOLLRDHUP | EPOLLERR | EPOLLHUP)) != 0,
                                 .isWritable = (what & (EPOLLOUT | EPOLLERR | EPOLLHUP)) != 0};
  }
  return count < 0 ? 0 : count;
}

int32_t backline_event_create(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }

void backline_event_clear(int32_t descriptor) {
  uint64_t counter;
  ssize_t taken = read(descriptor, &counter, sizeof counter);
  (void)taken;  // nothing to take is as good
}

int32_t backline_pipe(int32_t *ends) { return pipe2(ends, O_CLOEXEC); }
