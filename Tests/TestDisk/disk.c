// Stands before libc's fdatasync, fsync, open64, pread64 and pwrite64 in the test program, so that a test can count and
// see what SQLite calls, and have it fail.
#define _GNU_SOURCE
#include "TestDisk.h"
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static _Thread_local long count;
static _Thread_local long syncs;
static _Thread_local long room = -1;
static _Thread_local int denied;
static _Atomic ino_t failing[8];
static _Atomic ino_t watched[2];
static _Atomic(disk_watcher) watcher;

long counted_fdatasync(void) { return count; }

long counted_syncs(void) { return syncs; }

static int replace_failing(ino_t from, ino_t to) {
  for (int index = 0; index < 8; index++) {
    ino_t old = from;
    if (atomic_compare_exchange_strong(&failing[index], &old, to)) return 1;
  }
  return 0;
}

void fail_fdatasync(ino_t inode, int fails) {
  if (!replace_failing(fails ? 0 : inode, fails ? inode : 0)) abort();
}

static int is_failing(ino_t inode) {
  for (int index = 0; index < 8; index++)
    if (failing[index] && failing[index] == inode) return 1;
  return 0;
}

static _Atomic ino_t faulty[2];
static _Atomic long operations_left = -1;
static _Atomic(enum disk_operation) failing_operation;
static _Atomic(enum disk_remains) remains;

void fail_disk(ino_t first, ino_t second, enum disk_operation operation, long after, enum disk_remains what) {
  operations_left = -1;
  faulty[0] = first;
  faulty[1] = second;
  failing_operation = operation;
  remains = what;
  operations_left = after;
}

static ino_t inode(int descriptor);

static int fails(int descriptor, enum disk_operation operation) {
  if (operations_left < 0 || operation != failing_operation) return 0;
  ino_t file = inode(descriptor);
  if (file != faulty[0] && file != faulty[1]) return 0;
  return atomic_fetch_sub(&operations_left, 1) == 0;
}

void deny_writing(int is_denied) { denied = is_denied; }

void fail_pwrite_after(long writes) { room = writes; }

void watch_disk(ino_t first, ino_t second, disk_watcher new_watcher) {
  watched[0] = first;
  watched[1] = second;
  watcher = new_watcher;
}

static ino_t inode(int descriptor) {
  struct stat status;
  return fstat(descriptor, &status) == 0 ? status.st_ino : 0;
}

static long tell(int descriptor, enum disk_step step, long place, const void *bytes, long length) {
  disk_watcher tell = watcher;
  if (tell == NULL) return 0;
  ino_t file = inode(descriptor);
  for (int index = 0; index < 2; index++)
    if (file == watched[index]) return tell(index, step, place, bytes, length);
  return 0;
}

static _Thread_local ino_t folder;
static _Thread_local char entry[4096];
static _Thread_local long entry_syncs;

void watch_entry(ino_t new_folder, const char *path) {
  folder = new_folder;
  strncpy(entry, path, sizeof entry - 1);
  entry_syncs = 0;
}

long counted_entry_syncs(void) { return entry_syncs; }

static void count_entry(int descriptor) {
  if (folder && inode(descriptor) == folder && access(entry, F_OK) == 0) entry_syncs++;
}

int fdatasync(int descriptor) {
  count++;
  syncs++;
  count_entry(descriptor);
  if (is_failing(inode(descriptor))) {
    errno = EIO;
    return -1;
  }
  int is_failed = fails(descriptor, DISK_SYNCS);
  int result = 0;
  if (!is_failed || remains == DISK_ALL) {
    long mark = tell(descriptor, DISK_SYNC_BEGINS, 0, NULL, 0);
    result = (int)syscall(SYS_fdatasync, descriptor);
    if (result == 0) tell(descriptor, DISK_SYNC_ENDS, mark, NULL, 0);
  }
  if (is_failed) {
    errno = EIO;
    return -1;
  }
  return result;
}

int open64(const char *path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  mode_t mode = (flags & O_CREAT) ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  if (denied && (flags & O_ACCMODE) != O_RDONLY && access(path, F_OK) == 0) {
    errno = EACCES;
    return -1;
  }
  return openat(AT_FDCWD, path, flags, mode);
}

ssize_t pwrite64(int descriptor, const void *bytes, size_t length, off64_t place) {
  if (room == 0) {
    errno = ENOSPC;
    return -1;
  }
  if (room > 0) room--;
  if (fails(descriptor, DISK_WRITES)) {
    size_t done = remains == DISK_ALL ? length : remains == DISK_HALF ? length / 2 : 0;
    if (done > 0) {
      tell(descriptor, DISK_WRITE, place, bytes, (long)done);
      syscall(SYS_pwrite64, descriptor, bytes, done, place);
    }
    errno = EIO;
    return -1;
  }
  tell(descriptor, DISK_WRITE, place, bytes, (long)length);
  return syscall(SYS_pwrite64, descriptor, bytes, length, place);
}

ssize_t pread64(int descriptor, void *bytes, size_t length, off64_t place) {
  if (fails(descriptor, DISK_READS)) {
    errno = EIO;
    return -1;
  }
  return syscall(SYS_pread64, descriptor, bytes, length, place);
}

int fsync(int descriptor) {
  syncs++;
  count_entry(descriptor);
  return (int)syscall(SYS_fsync, descriptor);
}
