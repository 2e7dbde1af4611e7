// CRC-32C with the processor's own instruction (SSE 4.2), where there is one: Swift cannot name it.
#include "CChecksum.h"
#include <string.h>

#if defined(__x86_64__)
bool crc32c_is_instruction(void) { return __builtin_cpu_supports("sse4.2"); }

__attribute__((target("sse4.2")))
uint32_t crc32c_add(uint32_t state, const void *bytes, size_t length) {
  const unsigned char *next = bytes;
  uint64_t sum = state, word;
  for (; length >= 8; length -= 8, next += 8) {
    memcpy(&word, next, 8);
    sum = __builtin_ia32_crc32di(sum, word);
  }
  for (; length > 0; length--, next++) sum = __builtin_ia32_crc32qi((uint32_t)sum, *next);
  return (uint32_t)sum;
}
#else
bool crc32c_is_instruction(void) { return false; }
uint32_t crc32c_add(uint32_t state, const void *bytes, size_t length) { return state; }
#endif
