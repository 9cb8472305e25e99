#define _GNU_SOURCE
#include "CBacklineFiles.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

int32_t backline_rename_new(const char *from, const char *to) {
  if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0) return 0;
  // File systems that do not know the flag: a link is refused in the same way where the name is taken.
  if (errno != EINVAL && errno != ENOSYS) return -1;
  if (link(from, to) != 0) return -1;
  unlink(from);
  return 0;
}

void backline_begin_writeback(int32_t descriptor, int64_t offset, int64_t count) {
  const int before = errno;
  sync_file_range(descriptor, offset, count, SYNC_FILE_RANGE_WRITE);
  errno = before;
}

int64_t backline_peak_memory(void) {
  struct rusage usage;
  return getrusage(RUSAGE_SELF, &usage) == 0 ? usage.ru_maxrss * 1024 : 0;
}

int32_t backline_reserve(int32_t descriptor, int64_t offset, int64_t count) {
  while (fallocate(descriptor, FALLOC_FL_KEEP_SIZE, offset, count) != 0) {
    if (errno != EINTR) return errno;
  }
  return 0;
}
