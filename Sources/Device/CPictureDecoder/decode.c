#include "CPictureDecoder.h"
#include "CPictureExchange.h"
#include "container.h"
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/imgutils.h>
#include <libswscale/swscale.h>
#include <stdlib.h>
#include <string.h>

// The demuxer and the decoder of each format. Nothing else of the library reads a stranger's bytes.
static const struct {
  const char *container;
  enum AVCodecID codec;
} formats[] = {
    [picture_png] = {"png_pipe", AV_CODEC_ID_PNG},
    [picture_jpeg] = {"jpeg_pipe", AV_CODEC_ID_MJPEG},
    [picture_gif] = {"gif", AV_CODEC_ID_GIF},
    [picture_webp] = {"webp_pipe", AV_CODEC_ID_WEBP},
};

struct source {
  const uint8_t *bytes;
  size_t count, position;
};

static int read_source(void *opaque, uint8_t *buffer, int size) {
  struct source *source = opaque;
  size_t rest = source->count - source->position;
  size_t count = rest < (size_t)size ? rest : (size_t)size;
  if (count == 0) return AVERROR_EOF;
  memcpy(buffer, source->bytes + source->position, count);
  source->position += count;
  return (int)count;
}

// Demuxers of pictures ask for the size, and read the picture as one packet.
static int64_t seek_source(void *opaque, int64_t offset, int whence) {
  struct source *source = opaque;
  if (whence == AVSEEK_SIZE) return (int64_t)source->count;
  if (whence != SEEK_SET || offset < 0 || (size_t)offset > source->count) return AVERROR(EINVAL);
  source->position = (size_t)offset;
  return offset;
}

static AVCodecContext *open_decoder(enum AVCodecID id, int side) {
  const AVCodec *codec = avcodec_find_decoder(id);
  AVCodecContext *decoder = codec == NULL ? NULL : avcodec_alloc_context3(codec);
  if (decoder == NULL) return NULL;
  decoder->thread_count = 1;
  decoder->max_pixels = (int64_t)side * side;
  if (avcodec_open2(decoder, codec, NULL) == 0) return decoder;
  avcodec_free_context(&decoder);
  return NULL;
}

// Decodes packets up to the first frame.
static int first_frame(AVFormatContext *container, AVCodecContext *decoder, AVPacket *packet, AVFrame *frame) {
  while (av_read_frame(container, packet) == 0) {
    int sent = avcodec_send_packet(decoder, packet);
    av_packet_unref(packet);
    if (sent != 0) return -1;
    int received = avcodec_receive_frame(decoder, frame);
    if (received != AVERROR(EAGAIN)) return received;
  }
  avcodec_send_packet(decoder, NULL);
  return avcodec_receive_frame(decoder, frame);
}

// The scaler may write whole vectors at the end of a row.
enum { slack = 64 };

static int convert(const AVFrame *frame, struct decoder_picture *picture) {
  int width = frame->width, height = frame->height;
  uint8_t *pixels = malloc((size_t)width * (size_t)height * 3 + slack);
  struct SwsContext *scaler = sws_getContext(
      width, height, frame->format, width, height, AV_PIX_FMT_RGB24, SWS_POINT | SWS_ACCURATE_RND, NULL, NULL, NULL);
  int rows = 0;
  if (pixels != NULL && scaler != NULL) {
    uint8_t *planes[4] = {pixels};
    int strides[4] = {width * 3};
    rows = sws_scale(scaler, (const uint8_t *const *)frame->data, frame->linesize, 0, height, planes, strides);
  }
  sws_freeContext(scaler);
  if (rows != height) {
    free(pixels);
    return -1;
  }
  *picture = (struct decoder_picture){width, height, pixels};
  return 0;
}

int decoder_decode(const uint8_t *bytes, size_t count, int format, int side, struct decoder_picture *picture) {
  if (format < 0 || format >= (int)(sizeof formats / sizeof *formats)) return -1;
  av_log_set_level(AV_LOG_QUIET);
  struct source source = {bytes, count, 0};
  struct container_source reader = {&source, read_source, seek_source, 4096};
  AVFormatContext *container = container_open(reader, formats[format].container, NULL);
  if (container == NULL) return -1;
  AVCodecContext *decoder = open_decoder(formats[format].codec, side);
  AVPacket *packet = av_packet_alloc();
  AVFrame *frame = av_frame_alloc();
  int result = -1;
  if (decoder != NULL && packet != NULL && frame != NULL && first_frame(container, decoder, packet, frame) == 0 &&
      frame->width > 0 && frame->height > 0 && frame->width <= side && frame->height <= side)
    result = convert(frame, picture);
  av_frame_free(&frame);
  av_packet_free(&packet);
  avcodec_free_context(&decoder);
  container_close(container);
  return result;
}
