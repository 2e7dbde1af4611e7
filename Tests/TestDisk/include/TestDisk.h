#pragma once
#include <sys/types.h>

/// How often this thread has called fdatasync.
long counted_fdatasync(void);

/// How often this thread has called fdatasync or fsync.
long counted_syncs(void);

/// From now on fdatasync of this file fails, or does not. Tests at the same time may have some such files.
void fail_fdatasync(ino_t inode, int fails);

/// The disk is full for this thread after so many more writes; -1: it is not.
void fail_pwrite_after(long writes);

/// What a failing operation has done to the disk: nothing, a part, or all.
enum disk_remains { DISK_NOTHING, DISK_HALF, DISK_ALL };
/// The operations that can fail.
enum disk_operation { DISK_READS, DISK_WRITES, DISK_SYNCS };

/// After so many more of these operations on either file, one fails with EIO; -1: none fails.
void fail_disk(ino_t first, ino_t second, enum disk_operation operation, long after, enum disk_remains remains);

/// Whether files that are there are read-only for this thread.
void deny_writing(int denied);

/// Counts the syncs of a folder while it has the entry at this path.
void watch_entry(ino_t folder, const char *path);
long counted_entry_syncs(void);

/// What the disk was told of a watched file.
enum disk_step { DISK_WRITE, DISK_SYNC_BEGINS, DISK_SYNC_ENDS };

/// Is told each step of the first and the second file: a write and the beginning of a sync before they are
/// done, the end of one after it succeeded, with what was returned at its beginning as the place.
typedef long (*disk_watcher)(int file, enum disk_step step, long place, const void *bytes, long length);

/// From now on the watcher is told of these two files; NULL: nobody is.
void watch_disk(ino_t first, ino_t second, disk_watcher watcher);
