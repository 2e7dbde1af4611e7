#pragma once
#include <stdint.h>

// What chaos and a process under it share: a file that both have mapped (CHAOS_CONTROL).
struct chaos_control {
  int64_t clock_milliseconds;  // Added to the wall clock.
  int64_t sync_milliseconds;   // What each sync of a store takes longer.
  int64_t room;                // Bytes by which the stores may still grow; negative: no bound.
};

// One write, truncation, sync or removal, as the journal (CHAOS_JOURNAL) has it; `length` bytes follow a write.
struct chaos_record {
  uint32_t magic;
  uint8_t operation;  // 1 write, 2 truncate to `offset`, 3 sync, 4 removed
  uint8_t file;       // 0 the database, 1 its write-ahead log, 2 its rollback journal
  uint16_t zero;
  int64_t offset;
  uint64_t length;
};
