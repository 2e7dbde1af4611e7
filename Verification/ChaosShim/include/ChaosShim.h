#pragma once
#include <stdint.h>

// The control block in the file CHAOS_CONTROL, which chaos and the process map.
struct chaos_control {
  int64_t clock_milliseconds;  // Added to the wall clock.
  int64_t sync_milliseconds;   // Added to each sync of a store.
  int64_t room;                // Bytes by which the stores may still grow; negative for no limit.
  int64_t errors;              // The chance of EIO in millionths.
  int64_t error_operations;    // The operations that fail: 1 reads, 2 writes, 4 syncs.
  int64_t seed;                // The seed of the errors.
};

enum chaos_operation {
  CHAOS_WRITE = 1,     // `extent` bytes at `offset`. The body has the former bytes of their sectors.
  CHAOS_TRUNCATE = 2,  // To `offset` bytes. The body has the former bytes from that sector on.
  CHAOS_SYNC = 3,      // The records of the file before `offset` of the journal are durable.
  CHAOS_REMOVE = 4,    // The file is removed.
  CHAOS_NAME = 5,      // A database has a number; the body is its path.
  CHAOS_FORGET = 6,    // A failed sync: later syncs leave out the records before `offset`.
  CHAOS_CREATE = 7,    // The file is new, and exists durably from its next sync on.
};

enum { chaos_sector = 512 };

// A record of the journal CHAOS_JOURNAL. An operation is recorded before it is carried out, a sync
// after it. With nothing unsynced, the journal begins again with another generation. The journal
// ends before the first record of another generation.
struct chaos_record {
  uint32_t magic;      // Written last.
  uint8_t operation;
  uint8_t file;        // 0 the database, 1 its write-ahead log, 2 its rollback journal
  uint16_t database;   // The number of the database in this process.
  uint64_t generation;
  int64_t offset;
  int64_t extent;
  int64_t size;        // The size of the file before the operation.
  uint64_t length;     // The bytes of the body, which follows, padded to eight bytes.
};
