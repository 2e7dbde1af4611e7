#ifndef CZEROMQ_SHIM_H
#define CZEROMQ_SHIM_H

#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <zmq.h>

/* Swift cannot call a variadic function, and its Glibc module has no pthread_setname_np. */
static inline void czmq_name_thread(const char *name) {
  prctl(PR_SET_NAME, name, 0, 0, 0);
}

/* Swift does not see the enumerators of an anonymous C enum as Int32. */
static inline int czmq_wakeup_open(void) {
  return eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
}

#endif
