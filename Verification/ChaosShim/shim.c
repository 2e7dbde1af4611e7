// Interposes libc functions in a process under chaos (LD_PRELOAD), without changes to the process:
// - clock: adds an offset to the wall clock;
// - full disk: limits the growth of the SQLite files in CHAOS_DISK;
// - slow disk: delays the syncs of these files;
// - power loss: journals writes and syncs of these files, so that chaos can compute the durable state.
//   With CHAOS_NOSYNC set no sync is journalled, as for a store that does not sync.
#define _GNU_SOURCE
#include "include/ChaosShim.h"
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { maximum_descriptors = 4096 };

static struct chaos_control *control;
static const char *disk;
static int journal = -1;
static int is_unsynced;
// By descriptor: 1 + the file's index in the journal, or 0 for other files.
static unsigned char files[maximum_descriptors];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

__attribute__((constructor)) static void start(void) {
  const char *path = getenv("CHAOS_CONTROL");
  if (path) {
    int file = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC);
    if (file >= 0) {
      void *map = mmap(NULL, sizeof *control, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
      if (map != MAP_FAILED) control = map;
      syscall(SYS_close, file);
    }
  }
  disk = getenv("CHAOS_DISK");
  is_unsynced = getenv("CHAOS_NOSYNC") != NULL;
  path = getenv("CHAOS_JOURNAL");
  if (path) {
    journal = (int)syscall(
        SYS_openat, AT_FDCWD, path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  }
}

// MARK: the clock

static int is_wall(clockid_t clock) {
  return clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE;
}

int clock_gettime(clockid_t clock, struct timespec *time) {
  static int (*real)(clockid_t, struct timespec *);
  if (!real) real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
  int result = real(clock, time);
  if (result == 0 && control && is_wall(clock)) {
    int64_t offset = __atomic_load_n(&control->clock_milliseconds, __ATOMIC_RELAXED);
    int64_t nanoseconds = time->tv_nsec + offset % 1000 * 1000000;
    time->tv_sec += offset / 1000 + (nanoseconds < 0 ? -1 : nanoseconds / 1000000000);
    time->tv_nsec = (nanoseconds + 1000000000) % 1000000000;
  }
  return result;
}

int gettimeofday(struct timeval *time, void *zone) {
  (void)zone;
  struct timespec now;
  int result = clock_gettime(CLOCK_REALTIME, &now);
  time->tv_sec = now.tv_sec;
  time->tv_usec = now.tv_nsec / 1000;
  return result;
}

time_t time(time_t *out) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (out) *out = now.tv_sec;
  return now.tv_sec;
}

// MARK: the files

static int kind_of(const char *path) {
  if (!disk || !path || strncmp(path, disk, strlen(disk)) != 0) return 0;
  const char *name = strstr(path, ".sqlite");
  if (!name) return 0;
  name += strlen(".sqlite");
  return *name == 0 ? 1 : strcmp(name, "-wal") == 0 ? 2 : strcmp(name, "-journal") == 0 ? 3 : 0;
}

static int kind(int descriptor) {
  return descriptor >= 0 && descriptor < maximum_descriptors ? files[descriptor] : 0;
}

static void note(int kind, int operation, int64_t offset, const void *bytes, size_t length) {
  if (journal < 0) return;
  struct chaos_record record = {
      0x43484153, (uint8_t)operation, (uint8_t)(kind - 1), 0, offset, length};
  struct iovec parts[] = {{&record, sizeof record}, {(void *)bytes, length}};
  (void)!syscall(SYS_writev, journal, parts, length ? 2 : 1);
}

static int opened(int descriptor, const char *path) {
  if (descriptor >= 0 && descriptor < maximum_descriptors) files[descriptor] = kind_of(path);
  return descriptor;
}

#define OPEN(name)                                           \
  int name(const char *path, int flags, ...) {               \
    va_list arguments;                                       \
    va_start(arguments, flags);                              \
    mode_t mode = va_arg(arguments, mode_t);                 \
    va_end(arguments);                                       \
    return opened((int)syscall(SYS_openat, AT_FDCWD, path, flags, mode), path); \
  }
OPEN(open)
OPEN(open64)

int close(int descriptor) {
  if (kind(descriptor)) files[descriptor] = 0;
  return (int)syscall(SYS_close, descriptor);
}

int unlink(const char *path) {
  int kind = kind_of(path);
  if (!kind) return (int)syscall(SYS_unlink, path);
  pthread_mutex_lock(&lock);
  note(kind, 4, 0, NULL, 0);
  int result = (int)syscall(SYS_unlink, path);
  pthread_mutex_unlock(&lock);
  return result;
}

// The number of bytes that fit on the disk; 0 with ENOSPC if it is full.
static size_t taken(int descriptor, size_t length, int64_t offset) {
  int64_t room = control ? __atomic_load_n(&control->room, __ATOMIC_RELAXED) : -1;
  struct stat status;
  if (room < 0 || fstat(descriptor, &status) != 0) return length;
  int64_t growth = offset + (int64_t)length - status.st_size;
  if (growth <= room) {
    if (growth > 0) __atomic_fetch_sub(&control->room, growth, __ATOMIC_RELAXED);
    return length;
  }
  __atomic_store_n(&control->room, 0, __ATOMIC_RELAXED);
  int64_t fits = (int64_t)length - (growth - room);
  if (fits > 0) return (size_t)fits;
  errno = ENOSPC;
  return 0;
}

static ssize_t put(int descriptor, const void *bytes, size_t length, int64_t offset) {
  pthread_mutex_lock(&lock);
  ssize_t result = -1;
  size_t count = taken(descriptor, length, offset);
  if (count > 0 || length == 0) {
    note(kind(descriptor), 1, offset, bytes, count);
    result = syscall(SYS_pwrite64, descriptor, bytes, count, offset);
  }
  pthread_mutex_unlock(&lock);
  return result;
}

ssize_t pwrite64(int descriptor, const void *bytes, size_t length, off64_t offset) {
  if (!kind(descriptor)) return syscall(SYS_pwrite64, descriptor, bytes, length, offset);
  return put(descriptor, bytes, length, offset);
}

ssize_t pwrite(int descriptor, const void *bytes, size_t length, off_t offset) {
  return pwrite64(descriptor, bytes, length, offset);
}

ssize_t write(int descriptor, const void *bytes, size_t length) {
  if (!kind(descriptor)) return syscall(SYS_write, descriptor, bytes, length);
  int64_t offset = syscall(SYS_lseek, descriptor, 0, SEEK_CUR);
  ssize_t result = put(descriptor, bytes, length, offset);
  if (result > 0) syscall(SYS_lseek, descriptor, offset + result, SEEK_SET);
  return result;
}

int ftruncate64(int descriptor, off64_t length) {
  if (!kind(descriptor)) return (int)syscall(SYS_ftruncate, descriptor, length);
  pthread_mutex_lock(&lock);
  note(kind(descriptor), 2, length, NULL, 0);
  int result = (int)syscall(SYS_ftruncate, descriptor, length);
  pthread_mutex_unlock(&lock);
  return result;
}

int ftruncate(int descriptor, off_t length) { return ftruncate64(descriptor, length); }

static int synced(int descriptor, int result) {
  if (result == 0 && kind(descriptor) && !is_unsynced) {
    pthread_mutex_lock(&lock);
    note(kind(descriptor), 3, 0, NULL, 0);
    pthread_mutex_unlock(&lock);
  }
  return result;
}

static void delay(int descriptor) {
  int64_t milliseconds = control && kind(descriptor)
      ? __atomic_load_n(&control->sync_milliseconds, __ATOMIC_RELAXED) : 0;
  struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000};
  if (milliseconds > 0) nanosleep(&time, NULL);
}

int fsync(int descriptor) {
  delay(descriptor);
  return synced(descriptor, (int)syscall(SYS_fsync, descriptor));
}

int fdatasync(int descriptor) {
  delay(descriptor);
  return synced(descriptor, (int)syscall(SYS_fdatasync, descriptor));
}
