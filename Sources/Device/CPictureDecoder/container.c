#include "container.h"
#include <libavutil/mem.h>

static void free_reader(AVIOContext *reader) {
  av_freep(&reader->buffer);
  avio_context_free(&reader);
}

static AVIOContext *open_reader(struct container_source source) {
  uint8_t *buffer = av_malloc((size_t)source.buffer_size);
  if (buffer == NULL) return NULL;
  AVIOContext *reader =
      avio_alloc_context(buffer, source.buffer_size, 0, source.opaque, source.read, NULL, source.seek);
  if (reader == NULL) av_free(buffer);
  return reader;
}

AVFormatContext *container_open(struct container_source source, const char *name, AVDictionary **options) {
  const AVInputFormat *input = av_find_input_format(name);
  AVIOContext *reader = input == NULL ? NULL : open_reader(source);
  if (reader == NULL) return NULL;
  AVFormatContext *container = avformat_alloc_context();
  if (container == NULL) {
    free_reader(reader);
    return NULL;
  }
  container->pb = reader;
  container->flags |= AVFMT_FLAG_CUSTOM_IO;
  // A failure frees the container, but not its reader.
  if (avformat_open_input(&container, NULL, input, options) == 0) return container;
  free_reader(reader);
  return NULL;
}

void container_close(AVFormatContext *container) {
  AVIOContext *reader = container->pb;
  avformat_close_input(&container);
  free_reader(reader);
}
