import CPictureDecoder
import FamilyModel
import Glibc
import PerceptualHash

/// The frames of a video at ``Limits/videoInterval``, as small copies.
extension ContentDecoderCommand {
  /// Sends the frames and the end; returns whether the socket is still open.
  static func sendVideo(_ file: Int32) -> Bool {
    var duration: Int64 = 0
    guard let video = decoder_video_open(file, Int64(Limits.videoPixels), &duration) else {
      return send(VideoReply.undecodable.bytes)
    }
    defer { decoder_video_close(video) }
    var due: Int64?
    while true {
      var time: Int64 = 0
      var (width, height): (Int32, Int32) = (0, 0)
      switch decoder_video_next(video, &time, &width, &height) {
      case 0: return send(VideoReply.end.bytes)
      case 1: break
      default: return send(VideoReply.undecodable.bytes)
      }
      // A frame without a time is due, and so is one whose time lies before those of earlier frames.
      if let next = due, time >= next - interval, time < next { continue }
      due = time < 0 ? nil : time + interval
      guard
        let reply = copy(
          video, FrameSize.ofCopy(width: Int(width), height: Int(height)), time, duration)
      else { return send(VideoReply.undecodable.bytes) }
      guard send(reply.bytes) else { return false }
    }
  }

  private static let interval = Int64(Limits.videoInterval / .milliseconds(1))

  private static func copy(
    _ video: OpaquePointer, _ size: FrameSize, _ time: Int64, _ duration: Int64
  ) -> VideoReply? {
    var isCopied = false
    let rgb = [UInt8](unsafeUninitializedCapacity: 3 * size.width * size.height) { buffer, count in
      count = 3 * size.width * size.height
      buffer.initialize(repeating: 0)
      isCopied =
        decoder_video_scale(video, Int32(size.width), Int32(size.height), buffer.baseAddress) == 0
    }
    guard isCopied else { return nil }
    return .frame(
      VideoFrame(
        size: size, time: UInt32(clamping: time), duration: UInt32(clamping: duration), rgb: rgb))
  }
}
