#include "CPictureDecoder.h"
#include "container.h"
#include <errno.h>
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libswscale/swscale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct decoder_video {
  int file;
  AVFormatContext *container;
  AVCodecContext *decoder;
  AVPacket *packet;
  AVFrame *frame;
  struct SwsContext *scaler;
  int stream;
  int is_drained;
};

// The demuxer of each container by its first bytes. Nothing else of the library guesses formats.
static const char *container_name(int file) {
  uint8_t start[12];
  if (lseek(file, 0, SEEK_SET) != 0 || read(file, start, sizeof start) != sizeof start) return NULL;
  if (memcmp(start + 4, "ftyp", 4) == 0) return "mov";
  if (memcmp(start, "\x1A\x45\xDF\xA3", 4) == 0) return "matroska";
  return NULL;
}

static int is_supported(enum AVCodecID codec) {
  switch (codec) {
  case AV_CODEC_ID_H264:
  case AV_CODEC_ID_HEVC:
  case AV_CODEC_ID_MPEG4:
  case AV_CODEC_ID_VP8:
  case AV_CODEC_ID_VP9: return 1;
  default: return 0;
  }
}

static int read_file(void *opaque, uint8_t *buffer, int size) {
  struct decoder_video *video = opaque;
  ssize_t count;
  do count = read(video->file, buffer, (size_t)size);
  while (count < 0 && errno == EINTR);
  return count > 0 ? (int)count : count == 0 ? AVERROR_EOF : AVERROR(errno);
}

static int64_t seek_file(void *opaque, int64_t offset, int whence) {
  struct decoder_video *video = opaque;
  struct stat status;
  if (whence == AVSEEK_SIZE) return fstat(video->file, &status) == 0 ? status.st_size : AVERROR(errno);
  off_t place = lseek(video->file, offset, whence & ~AVSEEK_FORCE);
  return place < 0 ? AVERROR(errno) : place;
}

static int open_container(struct decoder_video *video, const char *name) {
  // Players differ in what they hide by edit lists and chapters, so all of it is read.
  AVDictionary *options = NULL;
  av_dict_set(&options, "ignore_editlist", "1", 0);
  av_dict_set(&options, "ignore_chapters", "1", 0);
  struct container_source source = {video, read_file, seek_file, 32 * 1024};
  video->container = container_open(source, name, &options);
  av_dict_free(&options);
  return video->container == NULL ? -1 : 0;
}

// The only stream of pictures. Players choose among several, covers included, so a file with several has none.
static AVStream *only_stream(AVFormatContext *container) {
  AVStream *found = NULL;
  for (unsigned index = 0; index < container->nb_streams; index++) {
    AVStream *stream = container->streams[index];
    if (stream->codecpar->codec_type != AVMEDIA_TYPE_VIDEO) {
      stream->discard = AVDISCARD_ALL;
    } else if (found != NULL) {
      return NULL;
    } else {
      found = stream;
    }
  }
  return found;
}

static int open_decoder(struct decoder_video *video, int64_t pixels) {
  AVStream *stream = only_stream(video->container);
  if (stream == NULL || !is_supported(stream->codecpar->codec_id)) return -1;
  const AVCodec *codec = avcodec_find_decoder(stream->codecpar->codec_id);
  video->decoder = codec == NULL ? NULL : avcodec_alloc_context3(codec);
  if (video->decoder == NULL || avcodec_parameters_to_context(video->decoder, stream->codecpar) != 0) return -1;
  video->decoder->thread_count = 1;
  // Frames that the library hides are shown by other players.
  video->decoder->flags |= AV_CODEC_FLAG_OUTPUT_CORRUPT;
  video->decoder->flags2 |= AV_CODEC_FLAG2_SHOW_ALL;
  video->decoder->max_pixels = pixels;
  video->stream = stream->index;
  return avcodec_open2(video->decoder, codec, NULL);
}

struct decoder_video *decoder_video_open(int file, int64_t pixels, int64_t *milliseconds) {
  av_log_set_level(AV_LOG_QUIET);
  struct stat status;
  struct decoder_video *video = calloc(1, sizeof *video);
  if (video == NULL) return NULL;
  video->file = file;
  video->packet = av_packet_alloc();
  video->frame = av_frame_alloc();
  const char *name = fstat(file, &status) == 0 && S_ISREG(status.st_mode) ? container_name(file) : NULL;
  if (video->packet == NULL || video->frame == NULL || name == NULL || lseek(file, 0, SEEK_SET) != 0 ||
      open_container(video, name) != 0 || open_decoder(video, pixels) != 0) {
    decoder_video_close(video);
    return NULL;
  }
  int64_t duration = video->container->duration;
  *milliseconds = duration == AV_NOPTS_VALUE || duration < 0 ? 0 : duration / (AV_TIME_BASE / 1000);
  return video;
}

void decoder_video_close(struct decoder_video *video) {
  sws_freeContext(video->scaler);
  av_frame_free(&video->frame);
  av_packet_free(&video->packet);
  avcodec_free_context(&video->decoder);
  if (video->container != NULL) container_close(video->container);
  free(video);
}

// Passes the next packet of the stream to the decoder, or its end.
static int feed(struct decoder_video *video) {
  int result;
  while ((result = av_read_frame(video->container, video->packet)) == 0) {
    // An empty packet would end the decoder, while players skip the packet.
    int is_wanted = video->packet->stream_index == video->stream && video->packet->size > 0;
    int sent = is_wanted ? avcodec_send_packet(video->decoder, video->packet) : 0;
    av_packet_unref(video->packet);
    if (is_wanted) return sent;
  }
  if (result != AVERROR_EOF) return result;
  // Demuxers report a failed read as the end.
  if (video->container->pb->error < 0) return video->container->pb->error;
  video->is_drained = 1;
  return avcodec_send_packet(video->decoder, NULL);
}

// The sides as they are shown, whose pixels are squares; 0 for a picture that is too small or too narrow.
static int has_displayed_size(const struct decoder_video *video, int32_t *width, int32_t *height) {
  enum { shortest = 16, longest = 1 << 16, largest_ratio = 8 };
  AVFrame *frame = video->frame;
  AVRational ratio = av_guess_sample_aspect_ratio(video->container, video->container->streams[video->stream], frame);
  int64_t shown = ratio.num > 0 && ratio.den > 0 ? av_rescale(frame->width, ratio.num, ratio.den) : frame->width;
  if (frame->width < shortest || frame->height < shortest || shown < shortest || shown > longest) return 0;
  if (shown > (int64_t)largest_ratio * frame->height || frame->height > largest_ratio * shown) return 0;
  *width = (int32_t)shown;
  *height = frame->height;
  return 1;
}

int decoder_video_next(struct decoder_video *video, int64_t *milliseconds, int32_t *width, int32_t *height) {
  int result;
  while ((result = avcodec_receive_frame(video->decoder, video->frame)) == AVERROR(EAGAIN))
    if (video->is_drained || feed(video) != 0) return -1;
  if (result == AVERROR_EOF) return video->is_drained ? 0 : -1;
  if (result != 0 || !has_displayed_size(video, width, height)) return -1;
  AVRational unit = video->container->streams[video->stream]->time_base;
  int64_t time = video->frame->best_effort_timestamp;
  *milliseconds = time == AV_NOPTS_VALUE ? -1 : av_rescale_q(time, unit, (AVRational){1, 1000});
  return 1;
}

int decoder_video_scale(struct decoder_video *video, int32_t width, int32_t height, uint8_t *pixels) {
  const AVFrame *frame = video->frame;
  video->scaler = sws_getCachedContext(
      video->scaler, frame->width, frame->height, frame->format, width, height, AV_PIX_FMT_RGB24,
      SWS_AREA | SWS_ACCURATE_RND, NULL, NULL, NULL);
  // The scaler may write whole vectors at the end of a row.
  enum { slack = 64 };
  uint8_t *copy = malloc((size_t)width * (size_t)height * 3 + slack);
  int rows = 0;
  if (video->scaler != NULL && copy != NULL) {
    uint8_t *planes[4] = {copy};
    int strides[4] = {width * 3};
    rows = sws_scale(
        video->scaler, (const uint8_t *const *)frame->data, frame->linesize, 0, frame->height, planes, strides);
  }
  if (rows == height) memcpy(pixels, copy, (size_t)width * (size_t)height * 3);
  free(copy);
  return rows == height ? 0 : -1;
}
