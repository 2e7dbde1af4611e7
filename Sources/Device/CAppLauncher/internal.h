#pragma once
#include <stdbool.h>
#include <stddef.h>

/// The paths that an app may use, in pairs of `-r` or `-w` and a path.
struct app_paths {
  char *const *pairs;
  int count;
};

/// Confines this process and its children for ever. `is_confined` is 0 on a kernel without Landlock.
/// Returns 0 or an `errno`.
int app_confine(struct app_paths paths, int *is_confined);

/// A log file with one older file.
struct app_log {
  const char *path;
  long maximum;
  int file;
  long size;
};

/// Opens the log at its end. Without a usable file the output is dropped.
void app_log_open(struct app_log *log);
/// Copies what waits in the pipe to the log. Returns whether the pipe is still open.
bool app_log_copy(struct app_log *log, int pipe);
