import ArgumentParser
import CPictureDecoder
import CPictureExchange
import FamilyModel
import Glibc
import PerceptualHash
import ProgramOptions

/// Decodes pictures for `content-worker`, and pictures and videos for apps, in a process that may do nothing else.
@main
struct ContentDecoderCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "content-decoder", abstract: "Decode pictures and videos of strangers.",
    discussion: """
      content-worker and apps start this program with a socket as its standard input. The program confines \
      itself before it reads a picture or a video: no files, no network, no other programs. --check shows \
      what the kernel denies on this machine.
      """,
    version: Program.version)

  @Flag(help: "Try what is denied, and exit with 1 if anything is permitted.")
  var check = false

  func run() throws {
    if check { return try Self.checkConfinement() }
    var confinement = decoder_confinement()
    let error = decoder_confine(&confinement)
    let greeting = DecoderGreeting(
      isConfined: error == 0, hasNamespaces: confinement.has_namespaces == 1,
      hasLandlock: confinement.has_landlock == 1)
    guard Self.send(greeting.bytes), error == 0 else { throw ExitCode.failure }
    while try Self.handleNext() {}
  }

  /// Decodes the next file; returns whether the socket is still open.
  private static func handleNext() throws -> Bool {
    var (file, format): (Int32, Int32) = (-1, 0)
    switch picture_receive(STDIN_FILENO, &file, &format) {
    case 0: return false
    case 1: break
    default: throw ExitCode.failure
    }
    defer { close(file) }
    if format == picture_video.rawValue { return sendVideo(file) }
    if format & blurred != 0 {
      let picture = try withPixels(file, format & ~blurred) {
        BlurredPicture(width: $0, height: $1, rgb: $2)
      }
      return send((picture.map { BlurReply.blurred($0) } ?? .undecodable).bytes)
    }
    let reply: DecoderReply? = try withPixels(file, format) { width, height, pixels in
      PDQHash.rated(width: width, height: height, rgb: pixels).map { .hashed($0) } ?? .tooSmall
    }
    return send((reply ?? DecoderReply.undecodable).bytes)
  }

  private static let blurred = Int32(picture_blurred)

  /// The value that the body makes of a picture's pixels; `nil` for bytes that are no picture.
  private static func withPixels<Value>(
    _ file: Int32, _ format: Int32,
    _ body: (_ width: Int, _ height: Int, _ rgb: UnsafeBufferPointer<UInt8>) -> Value
  ) throws -> Value? {
    var bytes: UnsafePointer<UInt8>?
    var count = 0
    guard picture_map(file, Limits.avatarBytes, &bytes, &count) == 0 else {
      throw ExitCode.failure
    }
    defer { munmap(UnsafeMutableRawPointer(mutating: bytes), count) }
    var picture = decoder_picture()
    let side = Int32(Limits.avatarPixels)
    guard decoder_decode(bytes, count, format, side, &picture) == 0 else { return nil }
    defer { free(picture.pixels) }
    let (width, height) = (Int(picture.width), Int(picture.height))
    return body(
      width, height, UnsafeBufferPointer(start: picture.pixels, count: 3 * width * height))
  }

  static func send(_ bytes: [UInt8]) -> Bool {
    Glibc.send(STDIN_FILENO, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count
  }

  private static let actions = [
    "files", "network", "other programs", "executable memory", "signals to other processes",
  ]

  private static func checkConfinement() throws {
    var isConfined = true
    for (number, action) in actions.enumerated() {
      let result = decoder_denies(Int32(number))
      if result != 1 { isConfined = false }
      print("\(action): \(result == 1 ? "denied" : result == 0 ? "PERMITTED" : "not checked")")
    }
    if !isConfined { throw ExitCode.failure }
  }
}
