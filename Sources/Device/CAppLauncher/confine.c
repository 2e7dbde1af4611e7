// Landlock by its system calls, because glibc has no functions for them. The constants are those of Linux 6.12, so
// that the code also compiles with older headers.
#define _GNU_SOURCE
#include "CAppLauncher.h"
#include "internal.h"
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { create_ruleset = 444, add_rule = 445, restrict_self = 446 };
enum { version_flag = 1, path_beneath = 1 };

enum {
  execute = 1 << 0,
  write_file = 1 << 1,
  read_file = 1 << 2,
  read_dir = 1 << 3,
  truncate_file = 1 << 14,
  device_control = 1 << 15,
};
// Rights that a file can have. A folder has all.
static const uint64_t of_files = execute | write_file | read_file | truncate_file | device_control;
static const uint64_t reading = execute | read_file | read_dir;

struct ruleset {
  uint64_t files, network, scoped;
};
struct path_rule {
  uint64_t allowed;
  int32_t parent;
} __attribute__((packed));

int app_launcher_landlock_version(void) {
  long version = syscall(create_ruleset, NULL, 0, version_flag);
  return version > 0 ? (int)version : 0;
}

// The rights over files that this version of Landlock can deny.
static uint64_t rights(int version) {
  if (version >= 5) return (1 << 16) - 1;
  if (version >= 3) return (1 << 15) - 1;
  if (version >= 2) return (1 << 14) - 1;
  return (1 << 13) - 1;
}

static int allow(int ruleset, const char *path, uint64_t allowed) {
  int file = open(path, O_PATH | O_CLOEXEC);
  // A path that does not exist grants nothing.
  if (file < 0) return 0;
  struct stat status;
  int result = fstat(file, &status);
  if (result == 0) {
    if (!S_ISDIR(status.st_mode)) allowed &= of_files;
    struct path_rule rule = {allowed, file};
    result = (int)syscall(add_rule, ruleset, path_beneath, &rule, 0);
  }
  int error = result == 0 ? 0 : errno;
  close(file);
  return error;
}

int app_confine(struct app_paths paths, int *is_confined) {
  *is_confined = 0;
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return errno;
  int version = app_launcher_landlock_version();
  if (version == 0) return 0;
  uint64_t all = rights(version);
  // From version 6 on: no signals and no abstract sockets to processes outside of the domain.
  struct ruleset attributes = {all, 0, version >= 6 ? 3 : 0};
  size_t size = version >= 6 ? sizeof attributes : sizeof attributes.files;
  int ruleset = (int)syscall(create_ruleset, &attributes, size, 0);
  if (ruleset < 0) return errno;
  int error = 0;
  for (int index = 0; index + 1 < paths.count && error == 0; index += 2) {
    uint64_t wanted = paths.pairs[index][1] == 'w' ? all : reading;
    error = allow(ruleset, paths.pairs[index + 1], wanted & all);
  }
  if (error == 0 && syscall(restrict_self, ruleset, 0) != 0) error = errno;
  close(ruleset);
  if (error == 0) *is_confined = 1;
  return error;
}
