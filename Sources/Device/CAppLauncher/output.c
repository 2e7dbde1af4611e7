// The output of an app in a file of bounded size.
#define _GNU_SOURCE
#include "internal.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

void app_log_open(struct app_log *log) {
  struct stat status;
  log->file = open(log->path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
  log->size = log->file >= 0 && fstat(log->file, &status) == 0 ? (long)status.st_size : 0;
}

// Keeps the file as the older one, and begins a new one.
static void rotate(struct app_log *log) {
  char older[PATH_MAX];
  if (snprintf(older, sizeof older, "%s.1", log->path) >= (int)sizeof older) return;
  close(log->file);
  rename(log->path, older);
  app_log_open(log);
}

bool app_log_copy(struct app_log *log, int pipe) {
  char bytes[16384];
  ssize_t count = read(pipe, bytes, sizeof bytes);
  if (count < 0) return errno == EAGAIN || errno == EINTR;
  if (count == 0) return false;
  if (log->file >= 0 && log->size > 0 && log->size + count > log->maximum) rotate(log);
  // A full disk loses output of the app, and nothing else.
  ssize_t written = log->file >= 0 ? write(log->file, bytes, (size_t)count) : 0;
  if (written > 0) log->size += written;
  return true;
}
