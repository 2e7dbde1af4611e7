// Containers that are read by functions of the caller, and nothing else.
#pragma once
#include <libavformat/avformat.h>

/// Where a container's bytes come from. The functions are those of `avio_alloc_context`.
struct container_source {
  void *opaque;
  int (*read)(void *opaque, uint8_t *buffer, int size);
  int64_t (*seek)(void *opaque, int64_t offset, int whence);
  int buffer_size;
};

/// Opens the bytes as the container with the name. `options` are those of the demuxer, or `NULL`.
///
/// Returns `NULL` for other bytes.
AVFormatContext *container_open(struct container_source source, const char *name, AVDictionary **options);

/// Closes a container.
void container_close(AVFormatContext *container);
