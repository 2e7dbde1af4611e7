import FamilyModel
import Foundation
import Testing

@testable import Credentials
@testable import RelayWire

/// docs/ProtocolExample.md and the code agree: each example block holds the bytes that the code
/// produces.
@Suite struct ProtocolDocumentTests {
  private static let document = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent("docs/ProtocolExample.md")

  private let examples = ProtocolExamples()
  /// The example blocks by name: the words of each block, without comments.
  private let blocks: [String: [Substring]]

  init() throws {
    var blocks: [String: [Substring]] = [:]
    var current: String?
    for line in try String(contentsOf: Self.document, encoding: .utf8).split(separator: "\n") {
      if line.hasPrefix("```") {
        let words = line.dropFirst(3).split(separator: " ")
        current = words.count == 2 ? String(words[1]) : nil
        if let current { blocks[current] = [] }
      } else if let current {
        let code = line.split(separator: "#", omittingEmptySubsequences: false)[0]
        blocks[current]? += code.split(separator: " ")
      }
    }
    self.blocks = blocks
  }

  private func bytes(_ name: String) throws -> [UInt8] {
    try #require(blocks[name], "the document has no example \(name)").map {
      try #require(UInt8($0, radix: 16), "\(name): \($0)")
    }
  }

  @Test("each deterministic example is what the code produces")
  func deterministic() throws {
    for (name, expected) in examples.all(sealed: try bytes("sealed-content")) {
      #expect(try bytes(name) == expected, "\(name): \(Self.hex(expected))")
    }
    #expect(try #require(blocks["code"]).joined() == examples.code.text)
    #expect(try JoinCode(text: examples.code.text).family == ProtocolExamples.family)
  }

  @Test("each example with a random part opens with the keys of the document")
  func random() throws {
    let content = examples.vault.open(
      .sealed(try bytes("sealed-content")), examples.oneContentKey,
      binding: examples.contentBinding)
    #expect(content == .question(examples.question))
    let channel = examples.channel
    let frame = try #require(SealedBroadcast(frame: try bytes("broadcast-frame")))
    #expect(frame.topic == channel.topic)
    #expect(
      ChannelCipher.open(frame.sealed, topic: frame.topic, key: channel.key)
        == (try bytes("broadcast")))
    #expect(
      examples.vault.unwrap(try bytes("wrap"), binding: examples.wrapBinding)
        == examples.contentKey)
  }

  @Test("each example block is computed by these tests")
  func complete() {
    let known = Set(examples.all(sealed: []).keys)
      .union(["sealed-content", "broadcast-frame", "wrap", "code"])
    #expect(Set(blocks.keys) == known)
  }

  private static func hex(_ bytes: [UInt8]) -> String {
    bytes.map { String(format: "%02x", $0) }.joined(separator: " ")
  }
}
