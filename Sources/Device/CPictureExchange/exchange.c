#define _GNU_SOURCE
#include "CPictureExchange.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

union control {
  struct cmsghdr header;
  char bytes[CMSG_SPACE(sizeof(int))];
};

void picture_timeout(int socket, int timeout_ms) {
  struct timeval timeout = {timeout_ms / 1000, timeout_ms % 1000 * 1000};
  setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
  setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof timeout);
}

int picture_sockets(int sockets[2], int timeout_ms) {
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) != 0) return errno;
  picture_timeout(sockets[0], timeout_ms);
  // A few small frames: the decoder waits for their reader.
  int buffer = 64 * 1024;
  setsockopt(sockets[1], SOL_SOCKET, SO_SNDBUF, &buffer, sizeof buffer);
  return 0;
}

int picture_spawn(const char *program, int socket, pid_t *process) {
  static const char variable[] = "LD_LIBRARY_PATH";
  char *const arguments[] = {(char *)program, NULL};
  char *environment[] = {NULL, NULL};
  const char *path = getenv(variable);
  if (path != NULL && asprintf(&environment[0], "%s=%s", variable, path) < 0) return ENOMEM;
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, socket, STDIN_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
  int error = posix_spawn(process, program, &actions, &attributes, arguments, environment);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  free(environment[0]);
  return error;
}

void picture_end(pid_t process) {
  kill(process, SIGKILL);
  while (waitpid(process, NULL, 0) < 0 && errno == EINTR) {}
}

// A file in memory that nobody can change any more.
static int sealed_file(const uint8_t *bytes, size_t count) {
  int file = memfd_create("picture", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (file < 0) return -1;
  for (size_t written = 0; written < count;) {
    ssize_t result = write(file, bytes + written, count - written);
    if (result < 0 && errno == EINTR) continue;
    if (result <= 0) {
      close(file);
      return -1;
    }
    written += (size_t)result;
  }
  if (fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL) != 0) {
    close(file);
    return -1;
  }
  return file;
}

int picture_send_file(int socket, int file, int format) {
  union control control = {0};
  uint8_t kind = (uint8_t)format;
  struct iovec part = {&kind, 1};
  struct msghdr message = {
      .msg_iov = &part, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes};
  control.header.cmsg_level = SOL_SOCKET;
  control.header.cmsg_type = SCM_RIGHTS;
  control.header.cmsg_len = CMSG_LEN(sizeof file);
  memcpy(CMSG_DATA(&control.header), &file, sizeof file);
  ssize_t sent;
  do sent = sendmsg(socket, &message, MSG_NOSIGNAL);
  while (sent < 0 && errno == EINTR);
  return sent == 1 ? 0 : errno;
}

int picture_send(int socket, const uint8_t *bytes, size_t count, int format) {
  int file = sealed_file(bytes, count);
  if (file < 0) return errno;
  int error = picture_send_file(socket, file, format);
  close(file);
  return error;
}

int picture_receive(int socket, int *file, int *format) {
  union control control = {0};
  uint8_t kind = 0;
  struct iovec part = {&kind, 1};
  struct msghdr message = {
      .msg_iov = &part, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes};
  ssize_t received;
  do received = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  while (received < 0 && errno == EINTR);
  if (received <= 0) return (int)received;
  if (message.msg_controllen < CMSG_LEN(sizeof(int)) || control.header.cmsg_type != SCM_RIGHTS) return -1;
  memcpy(file, CMSG_DATA(&control.header), sizeof *file);
  *format = kind;
  return 1;
}

int picture_map(int file, size_t limit, const uint8_t **bytes, size_t *count) {
  struct stat status;
  if (fstat(file, &status) != 0 || status.st_size <= 0 || (size_t)status.st_size > limit) return -1;
  void *map = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, file, 0);
  if (map == MAP_FAILED) return -1;
  *bytes = map;
  *count = (size_t)status.st_size;
  return 0;
}
