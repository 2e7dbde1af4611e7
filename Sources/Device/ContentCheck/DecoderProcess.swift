import CPictureExchange
package import Foundation
package import PerceptualHash
import ZeroMQ

/// A running process of `content-decoder` or of a classifier, which may do nothing else.
package struct DecoderProcess: Sendable {
  package let process: Int32
  package let greeting: DecoderGreeting
  private let socket: Int32

  /// The path of `content-decoder` beside this program.
  package static var besideThisProgram: URL {
    URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
      .deletingLastPathComponent().appendingPathComponent("content-decoder")
  }

  /// The decoder of an app.
  ///
  /// - Parameter path: The path of the device's decoder; `nil`: the one beside this program.
  package static func program(_ path: String?) -> URL {
    path.map { URL(fileURLWithPath: $0) } ?? besideThisProgram
  }

  /// Starts the process, and waits until it has confined itself.
  ///
  /// - Parameters:
  ///   - start: The time for the start.
  ///   - timeout: The time for each message after the start.
  /// - Throws: ``ProcessFailure``.
  package init(
    program: URL, start: Duration, timeout: Duration
  ) throws(ProcessFailure) {
    var sockets: [Int32] = [-1, -1]
    guard picture_sockets(&sockets, Self.milliseconds(start)) == 0 else {
      throw ProcessFailure(description: "Cannot create a socket for \(program.path).")
    }
    var process = pid_t()
    let error = picture_spawn(program.path, sockets[1], &process)
    close(sockets[1])
    guard error == 0 else {
      close(sockets[0])
      throw ProcessFailure(
        description: "Cannot start \(program.path). Check that the file is an executable program.")
    }
    let bytes = Self.message(sockets[0], atMost: DecoderReply.maximumBytes)
    guard let greeting = DecoderGreeting(bytes), greeting.isConfined else {
      picture_end(process)
      close(sockets[0])
      let failure = bytes.isEmpty ? "ended, or did not start in time" : "cannot confine itself"
      throw ProcessFailure(
        description: "\(program.path) \(failure). Run it with --check for the reason.")
    }
    picture_timeout(sockets[0], Self.milliseconds(timeout))
    self.process = process
    self.greeting = greeting
    socket = sockets[0]
  }

  private static func milliseconds(_ time: Duration) -> Int32 {
    Int32(clamping: Nanoseconds(time).milliseconds)
  }

  /// Whether the process has sent a message without a picture, which would be the reply to the next one.
  var hasSurplus: Bool {
    var byte: UInt8 = 0
    return recv(socket, &byte, 1, Int32(MSG_DONTWAIT)) >= 0
  }

  /// Sends a picture with the number of a format; returns whether the process received it.
  func send(_ picture: [UInt8], _ format: Int32) -> Bool {
    picture_send(socket, picture, picture.count, format) == 0
  }

  /// Sends a video file, which stays open here; returns whether the process received it.
  package func send(video file: Int32) -> Bool {
    picture_send_file(socket, file, Int32(picture_video.rawValue)) == 0
  }

  /// The next message of at most `count` bytes; empty at the end of the process and after the timeout.
  package func message(atMost count: Int) -> [UInt8] { Self.message(socket, atMost: count) }

  private static func message(_ socket: Int32, atMost limit: Int) -> [UInt8] {
    // One byte above the limit shows that the message is too long.
    [UInt8](unsafeUninitializedCapacity: limit + 1) { buffer, count in
      count = max(recv(socket, buffer.baseAddress, buffer.count, 0), 0)
    }
  }

  /// Ends the process at once, so that a wait for its message ends.
  package func kill() { Glibc.kill(process, SIGKILL) }

  /// Ends the process and frees its socket. The process must not be used afterwards.
  package func end() {
    picture_end(process)
    close(socket)
  }
}

extension picture_format {
  /// The format of a picture; `nil` for another media type.
  init?(mediaType: String) {
    switch mediaType {
    case "image/png": self = picture_png
    case "image/jpeg": self = picture_jpeg
    case "image/gif": self = picture_gif
    case "image/webp": self = picture_webp
    default: return nil
    }
  }
}
