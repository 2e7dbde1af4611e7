// Stands before libc's functions for the SQLite files in CHAOS_DISK:
// - full disk: limits the growth of the files;
// - slow disk: delays their syncs;
// - disk errors: reads, writes and syncs fail with EIO;
// - power loss: journals writes and syncs, so that chaos can compute the durable state.
//   With CHAOS_NOSYNC set no sync is journalled, as for a store that does not sync. With
//   CHAOS_HIDES_SYNC_ERRORS set a failed sync succeeds, as for a store that ignores the error.
#define _GNU_SOURCE
#include "shim.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { maximum_descriptors = 4096, maximum_databases = 4096 };
enum { reads = 1, writes = 2, syncs = 4 };
static const uint32_t magic = 0x43484154;

// A file of a database. `kind` is 1 + the file's index in the journal, or 0 for other files.
struct tracked {
  uint16_t database;
  uint8_t kind;
};

static const char *disk;
static size_t disk_length;
static int journal = -1;
static int is_unsynced;
static int hides_sync_errors;
static uint64_t random_state;
static struct tracked files[maximum_descriptors];
// The paths of the databases, by number. Guarded by `lock`, as are the random state and the journal.
static char *databases[maximum_databases];
static int database_count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

__attribute__((constructor)) static void start(void) {
  disk = getenv("CHAOS_DISK");
  if (disk) disk_length = strlen(disk);
  is_unsynced = getenv("CHAOS_NOSYNC") != NULL;
  hides_sync_errors = getenv("CHAOS_HIDES_SYNC_ERRORS") != NULL;
  const char *path = getenv("CHAOS_JOURNAL");
  if (!path) return;
  journal = (int)syscall(
      SYS_openat, AT_FDCWD, path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  // A program that this process starts has its own numbers of databases.
  unsetenv("CHAOS_JOURNAL");
}

// MARK: the journal

static void note(struct tracked file, int operation, int64_t offset, const void *bytes, size_t length) {
  if (journal < 0) return;
  struct chaos_record record = {
      magic, (uint8_t)operation, (uint8_t)(file.kind - 1), file.database, offset, length};
  struct iovec parts[] = {{&record, sizeof record}, {(void *)bytes, length}};
  (void)!syscall(SYS_writev, journal, parts, length ? 2 : 1);
}

// The end of the journal. Precondition: the caller holds the lock.
static int64_t mark(void) { return journal < 0 ? 0 : syscall(SYS_lseek, journal, 0, SEEK_END); }

// The number of the database. Its first use is journalled.
static int number_of(const char *path, size_t length) {
  for (int number = 0; number < database_count; number++)
    if (strncmp(databases[number], path, length) == 0 && databases[number][length] == 0) return number;
  if (database_count == maximum_databases) abort();
  databases[database_count] = strndup(path, length);
  struct stat status;
  int64_t size = stat(databases[database_count], &status) == 0 ? status.st_size : 0;
  note((struct tracked){(uint16_t)database_count, 1}, CHAOS_NAME, size, path, length);
  return database_count++;
}

static struct tracked file_at(const char *path) {
  struct tracked file = {0, 0};
  if (!disk || !path || strncmp(path, disk, disk_length) != 0 || path[disk_length] != '/') return file;
  const char *suffix = strstr(strrchr(path, '/'), ".sqlite");
  if (!suffix) return file;
  suffix += strlen(".sqlite");
  file.kind = *suffix == 0 ? 1 : strcmp(suffix, "-wal") == 0 ? 2 : strcmp(suffix, "-journal") == 0 ? 3 : 0;
  if (!file.kind) return file;
  pthread_mutex_lock(&lock);
  file.database = (uint16_t)number_of(path, (size_t)(suffix - path));
  pthread_mutex_unlock(&lock);
  return file;
}

static struct tracked file_of(int descriptor) {
  struct tracked none = {0, 0};
  return descriptor >= 0 && descriptor < maximum_descriptors ? files[descriptor] : none;
}

static int is_tracked(int descriptor) { return file_of(descriptor).kind != 0; }

static int opened(int descriptor, const char *path) {
  if (descriptor >= 0 && descriptor < maximum_descriptors) files[descriptor] = file_at(path);
  return descriptor;
}

#define OPEN(name)                                           \
  int name(const char *path, int flags, ...) {               \
    va_list arguments;                                       \
    va_start(arguments, flags);                              \
    mode_t mode = va_arg(arguments, mode_t);                 \
    va_end(arguments);                                       \
    return opened((int)syscall(SYS_openat, AT_FDCWD, path, flags, mode), path); \
  }
OPEN(open)
OPEN(open64)

int close(int descriptor) {
  if (is_tracked(descriptor)) files[descriptor] = (struct tracked){0, 0};
  return (int)syscall(SYS_close, descriptor);
}

int unlink(const char *path) {
  struct tracked file = file_at(path);
  if (!file.kind) return (int)syscall(SYS_unlink, path);
  pthread_mutex_lock(&lock);
  note(file, CHAOS_REMOVE, 0, NULL, 0);
  int result = (int)syscall(SYS_unlink, path);
  pthread_mutex_unlock(&lock);
  return result;
}

// MARK: errors

// A number below the bound. Precondition: the caller holds the lock.
static uint64_t drawn(uint64_t bound) {
  if (!random_state) random_state = (uint64_t)chaos_control->seed ^ ((uint64_t)getpid() << 32);
  uint64_t value = random_state += 0x9E3779B97F4A7C15;
  value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9;
  value = (value ^ (value >> 27)) * 0x94D049BB133111EB;
  return (value ^ (value >> 31)) % bound;
}

// Whether the operation fails with EIO. Precondition: the caller holds the lock.
static int fails(int operation) {
  if (!chaos_control) return 0;
  int64_t chance = __atomic_load_n(&chaos_control->errors, __ATOMIC_RELAXED);
  int64_t operations = __atomic_load_n(&chaos_control->error_operations, __ATOMIC_RELAXED);
  if (chance <= 0 || !(operations & operation)) return 0;
  return (int64_t)drawn(1000000) < chance;
}

static int failed(void) {
  errno = EIO;
  return -1;
}

// MARK: reads

static int fails_to_read(int descriptor) {
  if (!is_tracked(descriptor)) return 0;
  pthread_mutex_lock(&lock);
  int is_failed = fails(reads);
  pthread_mutex_unlock(&lock);
  return is_failed;
}

ssize_t read(int descriptor, void *bytes, size_t length) {
  return fails_to_read(descriptor) ? failed() : syscall(SYS_read, descriptor, bytes, length);
}

ssize_t pread64(int descriptor, void *bytes, size_t length, off64_t offset) {
  if (fails_to_read(descriptor)) return failed();
  return syscall(SYS_pread64, descriptor, bytes, length, offset);
}

ssize_t pread(int descriptor, void *bytes, size_t length, off_t offset) {
  return pread64(descriptor, bytes, length, offset);
}

// MARK: writes

// The number of bytes that fit on the disk; 0 with ENOSPC if it is full.
static size_t taken(int descriptor, size_t length, int64_t offset) {
  int64_t room = chaos_control ? __atomic_load_n(&chaos_control->room, __ATOMIC_RELAXED) : -1;
  struct stat status;
  if (room < 0 || fstat(descriptor, &status) != 0) return length;
  int64_t growth = offset + (int64_t)length - status.st_size;
  if (growth <= room) {
    if (growth > 0) __atomic_fetch_sub(&chaos_control->room, growth, __ATOMIC_RELAXED);
    return length;
  }
  __atomic_store_n(&chaos_control->room, 0, __ATOMIC_RELAXED);
  int64_t fits = (int64_t)length - (growth - room);
  if (fits > 0) return (size_t)fits;
  errno = ENOSPC;
  return 0;
}

static ssize_t put(int descriptor, const void *bytes, size_t length, int64_t offset) {
  pthread_mutex_lock(&lock);
  ssize_t result = -1;
  int is_failed = length > 0 && fails(writes);
  // A failed write may have written nothing, a half or all.
  size_t wanted = is_failed ? length * drawn(3) / 2 : length;
  size_t count = wanted > 0 ? taken(descriptor, wanted, offset) : 0;
  if (count > 0 || length == 0) {
    note(file_of(descriptor), CHAOS_WRITE, offset, bytes, count);
    result = syscall(SYS_pwrite64, descriptor, bytes, count, offset);
  }
  if (is_failed) result = failed();
  pthread_mutex_unlock(&lock);
  return result;
}

ssize_t pwrite64(int descriptor, const void *bytes, size_t length, off64_t offset) {
  if (!is_tracked(descriptor)) return syscall(SYS_pwrite64, descriptor, bytes, length, offset);
  return put(descriptor, bytes, length, offset);
}

ssize_t pwrite(int descriptor, const void *bytes, size_t length, off_t offset) {
  return pwrite64(descriptor, bytes, length, offset);
}

ssize_t write(int descriptor, const void *bytes, size_t length) {
  if (!is_tracked(descriptor)) return syscall(SYS_write, descriptor, bytes, length);
  int64_t offset = syscall(SYS_lseek, descriptor, 0, SEEK_CUR);
  ssize_t result = put(descriptor, bytes, length, offset);
  if (result > 0) syscall(SYS_lseek, descriptor, offset + result, SEEK_SET);
  return result;
}

int ftruncate64(int descriptor, off64_t length) {
  struct tracked file = file_of(descriptor);
  if (!file.kind) return (int)syscall(SYS_ftruncate, descriptor, length);
  pthread_mutex_lock(&lock);
  note(file, CHAOS_TRUNCATE, length, NULL, 0);
  int result = (int)syscall(SYS_ftruncate, descriptor, length);
  pthread_mutex_unlock(&lock);
  return result;
}

int ftruncate(int descriptor, off_t length) { return ftruncate64(descriptor, length); }

// MARK: syncs

static void delay(void) {
  int64_t milliseconds =
      chaos_control ? __atomic_load_n(&chaos_control->sync_milliseconds, __ATOMIC_RELAXED) : 0;
  struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000};
  if (milliseconds > 0) nanosleep(&time, NULL);
}

// Syncs the file. Bytes that another thread writes meanwhile may be left out, so they do not count.
static int sync_file(int descriptor, long call) {
  struct tracked file = file_of(descriptor);
  if (!file.kind) return (int)syscall(call, descriptor);
  delay();
  pthread_mutex_lock(&lock);
  int64_t begin = mark();
  int is_failed = fails(syncs);
  // A failed sync has made everything durable or nothing. Then the kernel takes the bytes for clean.
  int is_forgotten = is_failed && drawn(2);
  pthread_mutex_unlock(&lock);
  int result = (int)syscall(call, descriptor);
  if (result == 0 && !is_unsynced) {
    pthread_mutex_lock(&lock);
    note(file, is_forgotten ? CHAOS_FORGET : CHAOS_SYNC, begin, NULL, 0);
    pthread_mutex_unlock(&lock);
  }
  return is_failed && !hides_sync_errors ? failed() : result;
}

int fsync(int descriptor) { return sync_file(descriptor, SYS_fsync); }

int fdatasync(int descriptor) { return sync_file(descriptor, SYS_fdatasync); }
