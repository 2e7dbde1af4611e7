// CRC-32C by the processor's instruction (SSE 4.2). Swift has no intrinsic for the instruction.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__x86_64__)
/// Whether this processor has the instruction.
static inline bool crc32c_is_instruction(void) { return __builtin_cpu_supports("sse4.2"); }

/// Updates the checksum's state with the bytes. Precondition: the processor has the instruction.
__attribute__((target("sse4.2")))
static inline uint32_t crc32c_add(uint32_t state, const void *bytes, size_t length) {
  const unsigned char *next = (const unsigned char *)bytes;
  uint64_t sum = state, word;
  for (; length >= 8; length -= 8, next += 8) {
    memcpy(&word, next, 8);
    sum = __builtin_ia32_crc32di(sum, word);
  }
  for (; length > 0; length--, next++) sum = __builtin_ia32_crc32qi((uint32_t)sum, *next);
  return (uint32_t)sum;
}
#else
static inline bool crc32c_is_instruction(void) { return false; }
static inline uint32_t crc32c_add(uint32_t state, const void *bytes, size_t length) { return state; }
#endif
