// Stands before libc's fdatasync in the test program, so that a test can count what SQLite calls, and have it fail.
#include "CountedSync.h"
#include <errno.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static _Thread_local long count;
static _Atomic ino_t failing;

long counted_fdatasync(void) { return count; }

void fail_fdatasync(ino_t inode) { failing = inode; }

int fdatasync(int descriptor) {
  count++;
  struct stat status;
  if (failing && fstat(descriptor, &status) == 0 && status.st_ino == failing) {
    errno = EIO;
    return -1;
  }
  return (int)syscall(SYS_fdatasync, descriptor);
}
