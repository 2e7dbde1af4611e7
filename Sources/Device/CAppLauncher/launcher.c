#define _GNU_SOURCE
#include "CAppLauncher.h"
#include "internal.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { credential_descriptor = app_launcher_credential_descriptor, control_descriptor = 4 };
// Above the descriptors of a supervisor, so that no duplicate replaces another.
enum { first_free_descriptor = 10 };

// MARK: the device

int app_launcher_spawn(
    const char *program, char *const arguments[], char *const environment[], int credential, int *control,
    pid_t *process) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return errno;
  int high_control = fcntl(ends[1], F_DUPFD_CLOEXEC, first_free_descriptor);
  int high_credential = fcntl(credential, F_DUPFD_CLOEXEC, first_free_descriptor);
  int error = high_control < 0 || high_credential < 0 ? errno : 0;
  if (error == 0) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, high_credential, credential_descriptor);
    posix_spawn_file_actions_adddup2(&actions, high_control, control_descriptor);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    error = posix_spawn(process, program, &actions, &attributes, arguments, environment);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
  }
  if (high_control >= 0) close(high_control);
  if (high_credential >= 0) close(high_credential);
  close(ends[1]);
  if (error == 0) *control = ends[0];
  else close(ends[0]);
  return error;
}

// MARK: the supervisor

struct supervisor {
  pid_t app;
  int signals, output, status;
  struct app_log log;
};

// Kills the app's session, and every process whose parent is this one. A process that left the session becomes a
// child of the supervisor when its parent ends.
static void kill_children(pid_t app) {
  char path[64], line[4096];
  if (app > 0) kill(-app, SIGKILL);
  snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  ssize_t count = read(file, line, sizeof line - 1);
  close(file);
  if (count <= 0) return;
  line[count] = 0;
  // The last number may be cut off. The next call reads it.
  char *last = count == (ssize_t)sizeof line - 1 ? strrchr(line, ' ') : NULL;
  if (last) *last = 0;
  for (char *next = line, *end; ; next = end) {
    long child = strtol(next, &end, 10);
    if (end == next) return;
    kill((pid_t)child, SIGKILL);
  }
}

// Reaps ended children. Returns whether a child is left.
static bool reap(struct supervisor *supervisor, bool *has_ended) {
  for (;;) {
    int status;
    pid_t child = waitpid(-1, &status, WNOHANG);
    if (child == 0) return true;
    if (child < 0) return errno != ECHILD;
    if (child == supervisor->app) {
      supervisor->status = status;
      *has_ended = true;
    }
  }
}

// Runs in the child: becomes the app. Reports an error on the pipe, which `exec` closes.
static void become_app(char *folder, struct app_paths paths, char **command, int output, int report) {
  struct app_launcher_report result = {getpid(), 0, 0};
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  signal(SIGPIPE, SIG_DFL);
  dup2(output, STDOUT_FILENO);
  dup2(output, STDERR_FILENO);
  close(control_descriptor);
  // An app of a device that runs as root keeps no capability. Otherwise the calls fail.
  for (int capability = 0; capability < 64; capability++) prctl(PR_CAPBSET_DROP, capability, 0, 0, 0);
  if (setsid() < 0 || chdir(folder) != 0) result.error = errno;
  if (result.error == 0) result.error = app_confine(paths, &result.is_confined);
  if (write(report, &result, sizeof result) != sizeof result) _exit(127);
  if (result.error == 0) execv(command[0], command);
  result.error = result.error ? result.error : errno;
  if (write(report, &result, sizeof result) != sizeof result) _exit(127);
  _exit(127);
}

// Starts the app. Returns the last report, which has an error if the app does not run.
static struct app_launcher_report start(
    struct supervisor *supervisor, char *folder, struct app_paths paths, char **command) {
  struct app_launcher_report last = {0, 0, EIO}, next;
  int output[2], report[2];
  if (pipe2(output, O_CLOEXEC) != 0 || pipe2(report, O_CLOEXEC) != 0) return last;
  supervisor->app = fork();
  if (supervisor->app == 0) become_app(folder, paths, command, output[1], report[1]);
  close(output[1]);
  close(report[1]);
  fcntl(output[0], F_SETFL, O_NONBLOCK);
  supervisor->output = output[0];
  while (supervisor->app > 0 && read(report[0], &next, sizeof next) == sizeof next) last = next;
  close(report[0]);
  return last;
}

// Returns when the app and all its processes have ended.
static void supervise(struct supervisor *supervisor) {
  bool has_ended = false, is_ending = false, has_output = true;
  for (;;) {
    struct pollfd files[] = {
      {supervisor->signals, POLLIN, 0},
      {is_ending ? -1 : control_descriptor, POLLIN, 0},
      {has_output ? supervisor->output : -1, POLLIN, 0},
    };
    // While it ends, the time limit finds processes that have become children meanwhile.
    if (poll(files, 3, is_ending ? 10 : -1) < 0 && errno != EINTR) return;
    struct signalfd_siginfo signal;
    if (files[0].revents && read(supervisor->signals, &signal, sizeof signal) < 0 && errno != EAGAIN) return;
    if (files[2].revents) has_output = app_log_copy(&supervisor->log, supervisor->output);
    bool has_children = reap(supervisor, &has_ended);
    if (files[1].revents || has_ended) is_ending = true;
    if (!has_children) break;
    if (is_ending) kill_children(has_ended ? 0 : supervisor->app);
  }
  while (has_output) {
    struct pollfd rest = {supervisor->output, POLLIN, 0};
    if (poll(&rest, 1, 0) <= 0) break;
    has_output = app_log_copy(&supervisor->log, supervisor->output);
  }
}

// Ends as the app has ended.
static int end_like(int status) {
  if (WIFEXITED(status)) return WEXITSTATUS(status);
  struct rlimit none = {0, 0};
  setrlimit(RLIMIT_CORE, &none);
  signal(WTERMSIG(status), SIG_DFL);
  raise(WTERMSIG(status));
  return 128 + WTERMSIG(status);
}

int app_launcher_main(int count, char *arguments[]) {
  int first = 5, split = first;
  while (split < count && strcmp(arguments[split], "--") != 0) split++;
  if (split + 1 >= count) return 64;
  struct app_paths paths = {arguments + first, split - first};
  struct supervisor supervisor = {0, -1, -1, 0, {arguments[2], atol(arguments[3]), -1, 0}};
  syscall(SYS_close_range, control_descriptor + 1, ~0U, 0);
  fcntl(control_descriptor, F_SETFD, FD_CLOEXEC);
  // A terminal's signals to the device do not reach the app.
  setsid();
  signal(SIGPIPE, SIG_IGN);
  prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  sigset_t children;
  sigemptyset(&children);
  sigaddset(&children, SIGCHLD);
  sigprocmask(SIG_BLOCK, &children, NULL);
  supervisor.signals = signalfd(-1, &children, SFD_CLOEXEC | SFD_NONBLOCK);
  app_log_open(&supervisor.log);
  struct app_launcher_report report = start(&supervisor, arguments[4], paths, arguments + split + 1);
  // The supervisor keeps no secret. The app has its own copy of the descriptor.
  close(credential_descriptor);
  if (write(control_descriptor, &report, sizeof report) != sizeof report) report.error = EPIPE;
  if (report.error != 0 && supervisor.app > 0) kill(supervisor.app, SIGKILL);
  supervise(&supervisor);
  return report.error != 0 ? 127 : end_like(supervisor.status);
}
