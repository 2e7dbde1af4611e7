#ifndef CZEROMQ_SHIM_H
#define CZEROMQ_SHIM_H

#include <malloc.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <string.h>
#include <sys/eventfd.h>
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

/* Bytes that the kernel has received from a TCP peer; -1 for other descriptors. Glibc's tcp_info ends before
   tcpi_bytes_received, which Linux 4.1 and later have at byte 128. */
static inline int64_t czmq_bytes_received(int descriptor) {
  unsigned char info[136];
  socklen_t size = sizeof info;
  int64_t received;
  if (getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, info, &size) != 0 || size < sizeof info) return -1;
  memcpy(&received, info + 128, sizeof received);
  return received;
}

#endif
