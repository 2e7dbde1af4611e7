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

/// A video file that is decoded.
struct decoder_video;

/// Opens a video of at most `pixels` a frame: H.264, HEVC, MPEG-4, VP8 or VP9 in MP4, QuickTime, Matroska or WebM.
///
/// A file has exactly one stream of pictures, and no cover. `milliseconds` receives the duration, or 0. The file stays open until
/// the caller closes the video, and its position changes.
///
/// Returns `NULL` for any other file.
struct decoder_video *decoder_video_open(int file, int64_t pixels, int64_t *milliseconds);

/// Decodes the next frame. `milliseconds` receives its time, or -1; `width` and `height` its sides as they are shown.
///
/// Returns 1, 0 at the end, or -1 for a damaged file and for a frame that is too small or too narrow.
int decoder_video_next(struct decoder_video *video, int64_t *milliseconds, int32_t *width, int32_t *height);

/// Copies the frame in another size: three bytes, red, green and blue, for each pixel, without padding.
///
/// Returns 0, or -1 for a frame that cannot be copied.
int decoder_video_scale(struct decoder_video *video, int32_t width, int32_t height, uint8_t *pixels);

/// Frees a video. The caller closes the file.
void decoder_video_close(struct decoder_video *video);
