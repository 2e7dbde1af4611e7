// Landlock by its system calls, because glibc has no functions for them.
#define _GNU_SOURCE
#include "CPictureDecoder.h"
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { landlock_create_ruleset = 444, landlock_restrict_self = 446, landlock_version = 1 };

// The memory of a decoder: libraries, one picture and its decoded copies.
static const rlim_t memory = 1l << 30;

struct ruleset {
  uint64_t files, network, scoped;
};

// Denies every file and, from version 4 of Landlock, TCP; from version 6 also signals and abstract sockets.
static int deny_files(void) {
  long version = syscall(landlock_create_ruleset, NULL, 0, landlock_version);
  if (version <= 0) return -1;
  uint64_t files = version >= 5 ? (1 << 16) - 1 : version >= 3 ? (1 << 15) - 1 : (1 << 13) - 1;
  struct ruleset rules = {files, version >= 4 ? 3 : 0, version >= 6 ? 3 : 0};
  size_t size = version >= 6 ? sizeof rules : version >= 4 ? 16 : 8;
  int ruleset = (int)syscall(landlock_create_ruleset, &rules, size, 0);
  if (ruleset < 0) return -1;
  long result = syscall(landlock_restrict_self, ruleset, 0);
  close(ruleset);
  return result == 0 ? 0 : -1;
}

// The system calls of decoding and of the Swift runtime's memory, threads' locks and end.
static const int allowed[] = {
  SCMP_SYS(brk), SCMP_SYS(clock_gettime), SCMP_SYS(close), SCMP_SYS(exit), SCMP_SYS(exit_group), SCMP_SYS(fstat),
  SCMP_SYS(futex), SCMP_SYS(getpid), SCMP_SYS(getrandom), SCMP_SYS(gettid), SCMP_SYS(lseek), SCMP_SYS(madvise),
  SCMP_SYS(mremap), SCMP_SYS(munmap), SCMP_SYS(newfstatat), SCMP_SYS(read), SCMP_SYS(recvmsg),
  SCMP_SYS(restart_syscall), SCMP_SYS(rt_sigprocmask), SCMP_SYS(rt_sigreturn), SCMP_SYS(sched_getaffinity),
  SCMP_SYS(sched_yield), SCMP_SYS(sendmsg), SCMP_SYS(sendto), SCMP_SYS(sysinfo), SCMP_SYS(write),
};

static int allow(scmp_filter_ctx filter) {
  for (size_t index = 0; index < sizeof allowed / sizeof *allowed; index++) {
    int error = seccomp_rule_add(filter, SCMP_ACT_ALLOW, allowed[index], 0);
    if (error != 0) return error;
  }
  // No memory becomes executable.
  int error = seccomp_rule_add(
      filter, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 1, SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));
  if (error != 0) return error;
  return seccomp_rule_add(
      filter, SCMP_ACT_ALLOW, SCMP_SYS(mprotect), 1, SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));
}

static int filter_calls(void) {
  scmp_filter_ctx filter = seccomp_init(SCMP_ACT_KILL_PROCESS);
  if (filter == NULL) return ENOMEM;
  int error = allow(filter);
  if (error == 0) error = seccomp_load(filter);
  seccomp_release(filter);
  return -error;
}

static void limit(int resource, rlim_t value) { setrlimit(resource, &(struct rlimit){value, value}); }

int decoder_confine(struct decoder_confinement *result) {
  close_range(STDERR_FILENO + 1, ~0u, 0);
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return errno;
  prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_FSIZE, 0);
  limit(RLIMIT_AS, memory);
  int spaces = CLONE_NEWUSER | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWNS;
  result->has_namespaces = unshare(spaces) == 0;
  result->has_landlock = deny_files() == 0;
  return filter_calls();
}

static void try(int action) {
  switch (action) {
  case 0: {
    int file = open("/etc/passwd", O_RDONLY | O_CLOEXEC);
    _exit(file < 0);
  }
  case 1: _exit(socket(AF_INET, SOCK_STREAM, 0) < 0);
  case 2: _exit(execl("/bin/true", "true", (char *)NULL) != 0);
  case 3: _exit(mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED);
  default: _exit(kill(getppid(), 0) != 0);
  }
}

int decoder_denies(int action) {
  enum { unconfined = 3 };
  pid_t child = fork();
  if (child < 0) return -1;
  if (child == 0) {
    struct decoder_confinement result;
    if (decoder_confine(&result) != 0) _exit(unconfined);
    try(action);
  }
  int status;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return -1;
  if (WIFSIGNALED(status)) return WTERMSIG(status) == SIGSYS ? 1 : -1;
  return WEXITSTATUS(status) == unconfined ? -1 : WEXITSTATUS(status) != 0;
}
