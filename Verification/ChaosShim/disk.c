// Stands before libc's functions for the SQLite files in CHAOS_DISK:
// - full disk: limits the growth of the files;
// - slow disk: delays their syncs;
// - disk errors: reads, writes and syncs fail with EIO;
// - power loss: journals the former bytes of unsynced writes, so that chaos can take them back.
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
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
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
static int is_unsynced;
static int hides_sync_errors;
static uint64_t random_state;
static struct tracked files[maximum_descriptors];
// The paths of the databases, by number. Guarded by `lock`, as are the random state and the journal.
static char *databases[maximum_databases];
static int database_count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct tracked file_of(int descriptor) {
  struct tracked none = {0, 0};
  return descriptor >= 0 && descriptor < maximum_descriptors ? files[descriptor] : none;
}

// MARK: the journal

// The room of the mapping, and the bytes by which the file grows.
static const int64_t journal_room = 1ll << 36, journal_step = 1 << 22;
static int journal = -1;
static char *records;
static int64_t journal_size;
// The end of the last record.
static int64_t position;
static uint64_t generation = 1;
// The generation in which a database was last named.
static uint64_t named[maximum_databases];
// Of each file: the end of its last unsynced record, or 0; and whether a failed sync left bytes out.
static int64_t unsynced[maximum_databases][3];
static uint8_t has_forgotten[maximum_databases][3];
// The number of files with one of both.
static int open_files;

static int is_open(struct tracked file) {
  return unsynced[file.database][file.kind - 1] || has_forgotten[file.database][file.kind - 1];
}

static void set_unsynced(struct tracked file, int64_t end) {
  int was_open = is_open(file);
  unsynced[file.database][file.kind - 1] = end;
  open_files += is_open(file) - was_open;
}

static void set_forgotten(struct tracked file, int value) {
  int was_open = is_open(file);
  has_forgotten[file.database][file.kind - 1] = (uint8_t)value;
  open_files += is_open(file) - was_open;
}

static void track(struct tracked file, int operation, int64_t end) {
  if (operation == CHAOS_WRITE || operation == CHAOS_TRUNCATE || operation == CHAOS_CREATE)
    set_unsynced(file, end);
  if (operation == CHAOS_FORGET || operation == CHAOS_REMOVE)
    set_forgotten(file, operation == CHAOS_FORGET);
  if (operation == CHAOS_REMOVE) set_unsynced(file, 0);
}

// The bytes of a record with its body.
static int64_t record_size(const struct chaos_record *record) {
  return (int64_t)(sizeof *record + ((record->length + 7) & ~7ull));
}

// Space for a record and its body.
static struct chaos_record *space(size_t length) {
  int64_t end = position + (int64_t)(sizeof(struct chaos_record) + length);
  if (journal_size < end + journal_step) {
    while (journal_size < end + journal_step) journal_size += journal_step;
    if (syscall(SYS_ftruncate, journal, journal_size) != 0) abort();
  }
  return (struct chaos_record *)(records + position);
}

// Ends a record whose body is in its place. The magic comes last, so that a kill leaves no half.
static void finish(struct chaos_record *record, struct tracked file, struct chaos_record fields) {
  fields.file = (uint8_t)(file.kind - 1);
  fields.database = file.database;
  fields.generation = generation;
  *record = fields;
  __atomic_store_n(&record->magic, magic, __ATOMIC_RELEASE);
  position += record_size(record);
  track(file, fields.operation, position);
}

static void name(int database) {
  if (named[database] == generation) return;
  named[database] = generation;
  size_t length = strlen(databases[database]);
  struct chaos_record *record = space(length);
  memcpy(record + 1, databases[database], length);
  finish(record, (struct tracked){(uint16_t)database, 1},
         (struct chaos_record){.operation = CHAOS_NAME, .length = length});
}

// Records the operation.
static void note(struct tracked file, int operation, int64_t offset) {
  if (journal < 0) return;
  name(file.database);
  finish(space(0), file, (struct chaos_record){.operation = (uint8_t)operation, .offset = offset});
}

// Records a change of the bytes, with the former bytes of its sectors.
static void note_change(int descriptor, int operation, int64_t offset, int64_t extent) {
  if (journal < 0) return;
  struct tracked file = file_of(descriptor);
  struct stat status;
  if (fstat(descriptor, &status) != 0) abort();
  name(file.database);
  int64_t begin = offset / chaos_sector * chaos_sector;
  int64_t end = (offset + extent + chaos_sector - 1) / chaos_sector * chaos_sector;
  if (operation == CHAOS_TRUNCATE || end > status.st_size) end = status.st_size;
  int64_t length = end > begin ? end - begin : 0;
  struct chaos_record *record = space((size_t)length);
  for (int64_t done = 0; done < length;) {
    int64_t count = syscall(SYS_pread64, descriptor, (char *)(record + 1) + done, length - done,
                            begin + done);
    if (count <= 0) abort();
    done += count;
  }
  finish(record, file,
         (struct chaos_record){.operation = (uint8_t)operation, .offset = offset, .extent = extent,
                               .size = status.st_size, .length = (uint64_t)length});
}

// Begins the journal again if nothing is unsynced.
static void begin_again(void) {
  if (open_files > 0 || position == 0) return;
  __atomic_store_n(&((struct chaos_record *)records)->magic, 0, __ATOMIC_RELEASE);
  position = 0;
  generation++;
}

// The number of the database.
static int number_of(const char *path, size_t length) {
  for (int number = 0; number < database_count; number++)
    if (strncmp(databases[number], path, length) == 0 && databases[number][length] == 0) return number;
  if (database_count == maximum_databases) abort();
  databases[database_count] = strndup(path, length);
  return database_count++;
}

// Reads the records that former processes have left unsynced. Their databases have their numbers.
static void read_journal(void) {
  struct stat status;
  if (fstat(journal, &status) != 0) abort();
  while (position + (int64_t)sizeof(struct chaos_record) <= status.st_size) {
    struct chaos_record *record = (struct chaos_record *)(records + position);
    if (record->magic != magic) break;
    generation = record->generation;
    int64_t end = position + record_size(record);
    if (record->operation == CHAOS_NAME) named[number_of((char *)(record + 1), record->length)] = generation;
    position = end;
    track((struct tracked){record->database, record->file + 1}, record->operation, end);
  }
}

static void open_journal(const char *path) {
  journal = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (journal < 0) abort();
  records = mmap(NULL, (size_t)journal_room, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, journal, 0);
  if (records == MAP_FAILED) abort();
  read_journal();
  // A program that this process starts has its own numbers of databases.
  unsetenv("CHAOS_JOURNAL");
}

__attribute__((constructor)) static void start(void) {
  disk = getenv("CHAOS_DISK");
  if (disk) disk_length = strlen(disk);
  is_unsynced = getenv("CHAOS_NOSYNC") != NULL;
  hides_sync_errors = getenv("CHAOS_HIDES_SYNC_ERRORS") != NULL;
  const char *path = getenv("CHAOS_JOURNAL");
  if (path) open_journal(path);
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

static int is_tracked(int descriptor) { return file_of(descriptor).kind != 0; }

static int open_file(const char *path, int flags, mode_t mode) {
  struct tracked file = file_at(path);
  struct stat status;
  if (file.kind && (flags & O_CREAT) && stat(path, &status) != 0) {
    pthread_mutex_lock(&lock);
    note(file, CHAOS_CREATE, 0);
    pthread_mutex_unlock(&lock);
  }
  // Otherwise each read after a write would change the file's inode.
  if (file.kind) flags |= O_NOATIME;
  int descriptor = (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
  if (descriptor >= 0 && descriptor < maximum_descriptors) files[descriptor] = file;
  return descriptor;
}

#define OPEN(name)                             \
  int name(const char *path, int flags, ...) { \
    va_list arguments;                         \
    va_start(arguments, flags);                \
    mode_t mode = va_arg(arguments, mode_t);   \
    va_end(arguments);                         \
    return open_file(path, flags, mode);       \
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
  note(file, CHAOS_REMOVE, 0);
  int result = (int)syscall(SYS_unlink, path);
  begin_again();
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
  if (count > 0) {
    note_change(descriptor, CHAOS_WRITE, offset, (int64_t)count);
    result = syscall(SYS_pwrite64, descriptor, bytes, count, offset);
  } else if (length == 0) {
    result = 0;
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
  if (!is_tracked(descriptor)) return (int)syscall(SYS_ftruncate, descriptor, length);
  pthread_mutex_lock(&lock);
  note_change(descriptor, CHAOS_TRUNCATE, length, 0);
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

// Records a sync of what was recorded before `begin`, or that the sync left it out.
static void note_sync(struct tracked file, int operation, int64_t begin) {
  int64_t end = unsynced[file.database][file.kind - 1];
  if (!end) return;
  note(file, operation, begin);
  if (operation == CHAOS_SYNC && end <= begin) set_unsynced(file, 0);
  begin_again();
}

// Syncs the file. Bytes that another thread writes meanwhile may be left out, so they do not count.
static int sync_file(int descriptor, long call) {
  struct tracked file = file_of(descriptor);
  if (!file.kind) return (int)syscall(call, descriptor);
  delay();
  pthread_mutex_lock(&lock);
  int64_t begin = position;
  uint64_t begun = generation;
  int is_failed = fails(syncs);
  // A failed sync has made everything durable or nothing. Then the kernel takes the bytes for clean.
  int is_forgotten = is_failed && drawn(2);
  pthread_mutex_unlock(&lock);
  int result = (int)syscall(call, descriptor);
  if (result == 0 && !is_unsynced) {
    pthread_mutex_lock(&lock);
    note_sync(file, is_forgotten ? CHAOS_FORGET : CHAOS_SYNC, begun == generation ? begin : 0);
    pthread_mutex_unlock(&lock);
  }
  return is_failed && !hides_sync_errors ? failed() : result;
}

int fsync(int descriptor) { return sync_file(descriptor, SYS_fsync); }

int fdatasync(int descriptor) { return sync_file(descriptor, SYS_fdatasync); }
