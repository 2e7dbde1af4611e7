"""Confines a process to memory and one socket, as content-decoder does: no files, no network, no other programs."""

import ctypes
import errno
import mmap
import os
import resource
import signal
import socket

LIBC = ctypes.CDLL(None)
SECCOMP = ctypes.CDLL("libseccomp.so.2")

# From <linux/prctl.h>, <linux/landlock.h>, <linux/sched.h> and <seccomp.h>.
NO_NEW_PRIVILEGES, DUMPABLE = 38, 4
LANDLOCK_CREATE_RULESET, LANDLOCK_RESTRICT_SELF, LANDLOCK_VERSION = 444, 446, 1
NAMESPACES = 0x10000000 | 0x40000000 | 0x08000000 | 0x04000000 | 0x00020000
ALLOW, KILL_PROCESS, REFUSE = 0x7FFF0000, 0x80000000, 0x00050000 | errno.EACCES
MASKED_EQUAL = 7
EXECUTABLE = 4

# Bytes of the process: libraries, the model and its values.
MEMORY = 4 << 30

ALLOWED = (
    "brk clock_gettime clock_nanosleep close exit exit_group fstat futex getpid getrandom gettid lseek madvise mremap "
    "munmap pread64 read recvmsg restart_syscall rt_sigaction rt_sigprocmask rt_sigreturn sched_getaffinity sched_yield sendto "
    "sysinfo write"
).split()
# Libraries ask for these and continue without them.
REFUSED = "access clone clone3 getcwd ioctl newfstatat open openat prlimit64 readlink socket stat statx".split()


class Failure(Exception):
    """The process cannot be confined."""


class Ruleset(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint64) for name in ("files", "network", "scoped")]


class Comparison(ctypes.Structure):
    _fields_ = [("argument", ctypes.c_uint), ("operation", ctypes.c_int)] + [
        (name, ctypes.c_uint64) for name in ("mask", "value")
    ]


def confine():
    """Confines this process, and returns whether it has namespaces of its own, and whether Landlock denies files."""
    # Landlock holds for this thread and its children only.
    if len(os.listdir("/proc/self/task")) != 1:
        raise Failure("the process has several threads")
    os.closerange(3, os.sysconf("SC_OPEN_MAX"))
    if LIBC.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0) != 0:
        raise Failure("prctl")
    LIBC.prctl(DUMPABLE, 0, 0, 0, 0)
    for kind, value in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_AS, MEMORY),
    ):
        most = resource.getrlimit(kind)[1]
        lowest = value if most == resource.RLIM_INFINITY else min(value, most)
        resource.setrlimit(kind, (lowest, lowest))
    has_namespaces = LIBC.unshare(NAMESPACES) == 0
    has_landlock = deny_files()
    filter_calls()
    return has_namespaces, has_landlock


def deny_files():
    """Denies every file and, as far as the kernel's Landlock does, TCP and signals to other processes."""
    version = LIBC.syscall(LANDLOCK_CREATE_RULESET, None, 0, LANDLOCK_VERSION)
    if version <= 0:
        return False
    bits = 16 if version >= 5 else 15 if version >= 3 else 13
    rules = Ruleset((1 << bits) - 1, 3 if version >= 4 else 0, 3 if version >= 6 else 0)
    size = 24 if version >= 6 else 16 if version >= 4 else 8
    ruleset = LIBC.syscall(LANDLOCK_CREATE_RULESET, ctypes.byref(rules), size, 0)
    if ruleset < 0:
        return False
    try:
        return LIBC.syscall(LANDLOCK_RESTRICT_SELF, ruleset, 0) == 0
    finally:
        os.close(ruleset)


def filter_calls():
    """Lets the kernel end the process at any system call that classifying does not need."""
    SECCOMP.seccomp_init.restype = ctypes.c_void_p
    SECCOMP.seccomp_init.argtypes = [ctypes.c_uint32]
    add = SECCOMP.seccomp_rule_add_array
    add.argtypes = [ctypes.c_void_p, ctypes.c_uint32, ctypes.c_int, ctypes.c_uint, ctypes.c_void_p]
    SECCOMP.seccomp_load.argtypes = [ctypes.c_void_p]
    filter = SECCOMP.seccomp_init(KILL_PROCESS)
    if not filter:
        raise Failure("seccomp_init")
    rules = [(ALLOW, name, None) for name in ALLOWED] + [(REFUSE, name, None) for name in REFUSED]
    # No memory becomes executable.
    writable = Comparison(2, MASKED_EQUAL, EXECUTABLE, 0)
    rules += [(ALLOW, name, writable) for name in ("mmap", "mprotect")]
    for action, name, comparison in rules:
        number = SECCOMP.seccomp_syscall_resolve_name(name.encode())
        comparisons = (1, ctypes.byref(comparison)) if comparison else (0, None)
        if add(filter, action, number, *comparisons) != 0:
            raise Failure(f"seccomp refuses the rule for {name}")
    if SECCOMP.seccomp_load(filter) != 0:
        raise Failure("seccomp_load")


def check():
    """Prints what the kernel denies to a confined child, and returns whether it denies everything."""
    attempts = {
        "files": lambda: open("/etc/passwd").close(),
        "network": lambda: socket.socket(socket.AF_INET, socket.SOCK_STREAM).close(),
        "other programs": lambda: os.execv("/bin/true", ["true"]),
        "executable memory": lambda: mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_EXEC).close(),
        "signals to other processes": lambda: os.kill(os.getppid(), 0),
    }
    return all([denies(action, attempt) for action, attempt in attempts.items()])


def denies(action, attempt):
    """Whether the kernel denies the attempt to a confined child. Python itself ends with no such number."""
    denied, unchecked = 13, 14
    child = os.fork()
    if child == 0:
        try:
            confine()
        except BaseException:
            os._exit(unchecked)
        try:
            attempt()
        except OSError:
            os._exit(denied)
        except BaseException:
            os._exit(unchecked)
        os._exit(0)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    is_denied = status in (denied, -signal.SIGSYS)
    print(f"{action}: {'denied' if is_denied else 'PERMITTED' if status == 0 else 'not checked'}")
    return is_denied
