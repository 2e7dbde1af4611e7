#ifndef CZEROMQ_SHIM_H
#define CZEROMQ_SHIM_H

#include <linux/sockios.h>
#include <malloc.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdint.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <zmq.h>

/* Swift cannot call a variadic function, and its Glibc module has no pthread_setname_np. */
static inline void czmq_name_thread(const char *name) {
  prctl(PR_SET_NAME, name, 0, 0, 0);
}

/* Swift does not see the enumerators of an anonymous C enum as Int32. */
static inline int czmq_wakeup_open(void) {
  return eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
}

/* What the kernel knows about a connection. `received` and `acknowledged` are -1 for other sockets than TCP. */
struct czmq_traffic {
  int64_t received;
  int64_t acknowledged;
  int32_t pending;
  int32_t is_blocked;
  /* Bytes of a Unix socket's peer that this process has not taken from the kernel. */
  int32_t backlog;
};

/* Glibc's tcp_info ends before these fields, which Linux 4.6 and later have: tcpi_bytes_acked at byte 120,
   tcpi_bytes_received at 128, tcpi_notsent_bytes at 144. Segments in flight, tcpi_unacked at 24, need another
   call for their bytes. */
static inline struct czmq_traffic czmq_tcp_traffic(int descriptor) {
  struct czmq_traffic traffic = {-1, -1, 0, 0, 0};
  unsigned char info[148];
  socklen_t size = sizeof info;
  uint32_t in_flight, unsent;
  if (getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, info, &size) != 0 || size < sizeof info) return traffic;
  memcpy(&in_flight, info + 24, sizeof in_flight);
  memcpy(&traffic.acknowledged, info + 120, sizeof traffic.acknowledged);
  memcpy(&traffic.received, info + 128, sizeof traffic.received);
  memcpy(&unsent, info + 144, sizeof unsent);
  traffic.pending = (int32_t)unsent;
  if (in_flight > 0) ioctl(descriptor, SIOCOUTQ, &traffic.pending);
  traffic.is_blocked = unsent > 0;
  return traffic;
}

/* For Unix sockets: the bytes that each side has not read, and whether the kernel takes more for the peer. */
static inline struct czmq_traffic czmq_unix_traffic(int descriptor) {
  struct czmq_traffic traffic = {-1, -1, 0, 0, 0};
  struct pollfd state = {descriptor, POLLOUT, 0};
  int pending, backlog;
  if (ioctl(descriptor, SIOCOUTQ, &pending) != 0) return traffic;
  if (ioctl(descriptor, FIONREAD, &backlog) == 0) traffic.backlog = backlog;
  traffic.pending = pending;
  traffic.is_blocked = pending > 0 && poll(&state, 1, 0) == 0;
  return traffic;
}

/* The kernel's number of a socket, which no other socket ever has; 0 if the descriptor is no socket. */
static inline uint64_t czmq_socket_cookie(int descriptor) {
  uint64_t cookie = 0;
  socklen_t size = sizeof cookie;
  if (getsockopt(descriptor, SOL_SOCKET, SO_COOKIE, &cookie, &size) != 0) return 0;
  return cookie;
}

#endif
