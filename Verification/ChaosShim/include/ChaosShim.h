#pragma once
#include <stdint.h>

// The control block in the file CHAOS_CONTROL, which chaos and the process map.
struct chaos_control {
  int64_t clock_milliseconds;  // Added to the wall clock.
  int64_t sync_milliseconds;   // Added to each sync of a store.
  int64_t room;                // Bytes by which the stores may still grow; negative for no limit.
};

// A write, truncation, sync or removal in the journal CHAOS_JOURNAL. `length` bytes follow a write.
struct chaos_record {
  uint32_t magic;
  uint8_t operation;  // 1 write, 2 truncate to `offset`, 3 sync, 4 removed
  uint8_t file;       // 0 the database, 1 its write-ahead log, 2 its rollback journal
  uint16_t zero;
  int64_t offset;
  uint64_t length;
};
