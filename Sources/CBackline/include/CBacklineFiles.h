// System calls on files that Swift's Glibc does not offer, or offers as variadic functions.
#pragma once

#include <stdbool.h>
#include <stdint.h>

/// Renames a file unless the new name is taken: 0, or -1 with `errno` EEXIST where it is.
int32_t backline_rename_new(const char *_Nonnull from, const char *_Nonnull to);
/// Has the kernel begin to write a range of a file to the disk, and does not wait for it. Only a hint.
void backline_begin_writeback(int32_t descriptor, int64_t offset, int64_t count);
/// The largest resident memory of this process so far in bytes.
int64_t backline_peak_memory(void);
/// Has room set aside for a range of a file without making it longer: 0, or the system's error number.
int32_t backline_reserve(int32_t descriptor, int64_t offset, int64_t count);
