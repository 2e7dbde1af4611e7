#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Whether this processor has an instruction for CRC-32C.
bool crc32c_is_instruction(void);

/// The CRC-32C's state after the bytes, by that instruction.
uint32_t crc32c_add(uint32_t state, const void *bytes, size_t length);
