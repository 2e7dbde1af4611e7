// Stands before libc's fdatasync in the test program, so that a test can count what SQLite calls.
#include "CountedSync.h"
#include <sys/syscall.h>
#include <unistd.h>

static _Thread_local long count;

long counted_fdatasync(void) { return count; }

int fdatasync(int descriptor) {
  count++;
  return (int)syscall(SYS_fdatasync, descriptor);
}
