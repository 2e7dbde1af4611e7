import CPictureDecoder
import FamilyModel
import Glibc
import PerceptualHash

/// The frames of a video as small copies: those that are shown longer than ``Limits/videoInterval``, one in each
/// such interval, and the last one.
extension ContentDecoderCommand {
  /// Sends the frames and the end; returns whether the socket is still open.
  static func sendVideo(_ file: Int32) -> Bool {
    var duration: Int64 = 0
    guard let video = decoder_video_open(file, Int64(Limits.videoPixels), &duration) else {
      return send(VideoReply.undecodable.bytes)
    }
    defer { decoder_video_close(video) }
    var skipped: VideoFrame?
    var (last, lastSent): (Int64, Int64) = (-1, -1)
    while true {
      var time: Int64 = 0
      var (width, height): (Int32, Int32) = (0, 0)
      switch decoder_video_next(video, &time, &width, &height) {
      case 0: return send(skipped) && send(VideoReply.end.bytes)
      case 1: break
      default: return send(VideoReply.undecodable.bytes)
      }
      let size = FrameSize.ofCopy(width: Int(width), height: Int(height))
      guard let frame = copy(video, size, time, duration) else {
        return send(VideoReply.undecodable.bytes)
      }
      // The frame before this one was shown until now.
      if time - last > interval, !send(skipped) { return false }
      // Players choose the time of a frame without one, and of one that is earlier than the frame before.
      if lastSent >= 0, time > last, time - lastSent < interval {
        skipped = frame
      } else {
        guard send(frame) else { return false }
        (skipped, lastSent) = (nil, time)
      }
      last = time
    }
  }

  private static func send(_ frame: VideoFrame?) -> Bool {
    frame.map { send(VideoReply.frame($0).bytes) } ?? true
  }

  private static let interval = Int64(Limits.videoInterval / .milliseconds(1))

  private static func copy(
    _ video: OpaquePointer, _ size: FrameSize, _ time: Int64, _ duration: Int64
  ) -> VideoFrame? {
    var isCopied = false
    let rgb = [UInt8](unsafeUninitializedCapacity: 3 * size.width * size.height) { buffer, count in
      count = 3 * size.width * size.height
      buffer.initialize(repeating: 0)
      isCopied =
        decoder_video_scale(video, Int32(size.width), Int32(size.height), buffer.baseAddress) == 0
    }
    guard isCopied else { return nil }
    return VideoFrame(
      size: size, time: UInt32(clamping: time), duration: UInt32(clamping: duration), rgb: rgb)
  }
}
