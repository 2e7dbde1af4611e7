// Decodes pictures of strangers, in a process that may do nothing else.
//
// The process confines itself before it receives the first picture.
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/// What confines the process.
struct decoder_confinement {
  /// 1 if the process has namespaces of its own, without a network.
  int32_t has_namespaces;
  /// 1 if Landlock denies every file, and TCP.
  int32_t has_landlock;
};

/// Takes the rights of this process for good: system calls that a decoder does not need end the process.
///
/// Descriptors above standard error are closed. The filter of system calls is required; namespaces and Landlock are
/// used where the kernel and the service manager permit them.
///
/// Returns 0, or the `errno` of the filter.
int decoder_confine(struct decoder_confinement *result);

/// Forks a process that confines itself and then tries an action: 0 opens a file, 1 opens a socket, 2 starts a
/// program, 3 makes executable memory, 4 signals its parent.
///
/// Returns 1 if the action was denied, 0 if it was done, -1 if the process could not be confined.
int decoder_denies(int action);

/// A picture's pixels: three bytes, red, green and blue, for each, without padding.
struct decoder_picture {
  int32_t width, height;
  uint8_t *pixels;
};

/// Decodes the first frame of a picture of at most `side` pixels a side. `format` is one of CPictureExchange.h.
///
/// Returns 0, or -1 for bytes that are no such picture. The caller frees `pixels`.
int decoder_decode(const uint8_t *bytes, size_t count, int format, int side, struct decoder_picture *picture);
