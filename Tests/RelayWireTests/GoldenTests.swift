import FamilyModel
import Foundation
import RelayWire
import Testing

/// Today's code beside the messages of each released version.
@Suite struct GoldenTests {
  private static let folder = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("Golden")
  /// The version whose messages this run writes; `nil`: none. `tools/golden` sets the variable.
  static let written = ProcessInfo.processInfo.environment["PERMISSION_RELAY_GOLDEN"]

  /// A kind of messages: the file's name, today's samples, and a decoder followed by the encoder.
  private struct Kind: Sendable {
    let name: String
    let samples: [[UInt8]]
    let again: @Sendable ([UInt8]) throws -> [UInt8]
  }

  private static let device = DeviceAddress(family: FamilyID(7), device: DeviceID(3))

  private static let kinds: [Kind] = [
    Kind(
      name: "requests",
      samples: WireSamples.requests.map {
        Envelope(device: device, requestID: 5, request: $0).encode()
      }, again: { try $0.withUnsafeBytes { try Envelope.decode($0) }.encode() }),
    Kind(
      name: "replies",
      samples: WireSamples.replies.map {
        ReplyEnvelope(device: device, requestID: 5, reply: $0).encode()
      }, again: { try $0.withUnsafeBytes { try ReplyEnvelope.decode($0) }.encode() }),
    Kind(
      name: "events", samples: WireSamples.events.map { $0.encode() },
      again: { try Event.decode($0).encode() }),
    Kind(
      name: "broadcasts",
      samples: [
        Broadcast.event(WireSamples.events[0]), .head(.family, seq: 4),
        .receipt(.family, Receipt(delivered: 4, read: 3)),
      ].map { $0.encode() }, again: { try Broadcast.decode($0).encode() }),
    Kind(
      name: "app-requests", samples: WireSamples.appRequests.map { $0.encode() },
      again: { try $0.withUnsafeBytes { try AppRequest.decode($0) }.encode() }),
    Kind(
      name: "app-replies", samples: WireSamples.appReplies.map { $0.encode() },
      again: { try $0.withUnsafeBytes { try AppReply.decode($0) }.encode() }),
  ]

  @Test(
    "O5: the golden messages are written (tools/golden)", .enabled(if: GoldenTests.written != nil))
  func write() throws {
    let folder = Self.folder.appendingPathComponent(try #require(Self.written))
      .appendingPathComponent("messages")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    for kind in Self.kinds {
      let lines = kind.samples.map { $0.map { String(format: "%02x", $0) }.joined() + "\n" }
      try Data(lines.joined().utf8).write(to: folder.appendingPathComponent("\(kind.name).hex"))
    }
  }

  @Test("O5: the messages of each released version decode, and nothing of them is lost")
  func decode() throws {
    let versions = try FileManager.default.contentsOfDirectory(
      at: Self.folder, includingPropertiesForKeys: nil
    ).filter(\.hasDirectoryPath)
    #expect(!versions.isEmpty)
    for version in versions {
      for kind in Self.kinds {
        let file = version.appendingPathComponent("messages/\(kind.name).hex")
        let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
        #expect(!lines.isEmpty)
        for line in lines {
          let bytes = Self.bytes(line)
          #expect(try kind.again(bytes) == bytes, "\(version.lastPathComponent) \(kind.name)")
        }
      }
    }
  }

  private static func bytes(_ line: Substring) -> [UInt8] {
    var (digits, bytes) = (line, [UInt8]())
    while let byte = UInt8(digits.prefix(2), radix: 16) {
      bytes.append(byte)
      digits = digits.dropFirst(2)
    }
    return bytes
  }
}
