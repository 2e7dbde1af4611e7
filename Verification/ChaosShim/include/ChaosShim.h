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
  CHAOS_WRITE = 1,      // `length` bytes follow.
  CHAOS_TRUNCATE = 2,   // To `offset` bytes.
  CHAOS_SYNC = 3,       // The records before `offset` of the journal are durable.
  CHAOS_REMOVE = 4,     // The file is removed.
  CHAOS_NAME = 5,       // A database of `offset` bytes has a number; its path follows: `length` bytes.
  CHAOS_FORGET = 6,     // A failed sync: later syncs leave out the records before `offset`.
};

// A record of the journal CHAOS_JOURNAL. An operation is recorded before it is carried out, a sync
// after it.
struct chaos_record {
  uint32_t magic;
  uint8_t operation;
  uint8_t file;       // 0 the database, 1 its write-ahead log, 2 its rollback journal
  uint16_t database;  // The number of the database in this process.
  int64_t offset;
  uint64_t length;
};
