// Interposes libc functions in a process under chaos (LD_PRELOAD), without changes to the process.
// This file opens the control block and adds an offset to the wall clock; disk.c has the disk.
// With CHAOS_EXIT set the process ends with this code, as after an error at its end.
#define _GNU_SOURCE
#include "shim.h"
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

struct chaos_control *chaos_control;

static int exit_code;

static void end(void) { _exit(exit_code); }

__attribute__((constructor)) static void start(void) {
  const char *code = getenv("CHAOS_EXIT");
  if (code) {
    exit_code = atoi(code);
    atexit(end);
    unsetenv("CHAOS_EXIT");
  }
  const char *path = getenv("CHAOS_CONTROL");
  if (!path) return;
  int file = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC);
  if (file < 0) return;
  void *map = mmap(NULL, sizeof *chaos_control, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (map != MAP_FAILED) chaos_control = map;
  syscall(SYS_close, file);
}

static int is_wall(clockid_t clock) {
  return clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE;
}

int clock_gettime(clockid_t clock, struct timespec *time) {
  static int (*real)(clockid_t, struct timespec *);
  if (!real) real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
  int result = real(clock, time);
  if (result == 0 && chaos_control && is_wall(clock)) {
    int64_t offset = __atomic_load_n(&chaos_control->clock_milliseconds, __ATOMIC_RELAXED);
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
