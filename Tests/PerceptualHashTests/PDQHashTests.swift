import PerceptualHash
import Testing

@Suite struct PDQHashTests {
  /// The hash and quality that the authors' implementation computes for a picture.
  struct Vector: Sendable {
    var pattern: Int
    var width: Int
    var height: Int
    var hash: String
    var quality: Int
  }

  /// Computed with the Python binding `pdqhash` 0.2.8.
  private static let vectors = [
    Vector(
      pattern: 0, width: 64, height: 64,
      hash: "fc1e7e0ec0f1e0780fc107e1fc0e7f0fc07ce03e0fe107f0f807fe0301fc01fc", quality: 59),
    Vector(
      pattern: 0, width: 200, height: 130,
      hash: "1f0ef8717c71c383e1e11f0e078e7c783c1ec1f1e0f10f8f0783f81ef81e03e1", quality: 14),
    Vector(
      pattern: 1, width: 517, height: 311,
      hash: "adc7299e5a7816e1da7f26a1fee72bb356a7954c0a58d5aaaa5080ff1580170a", quality: 100),
    Vector(
      pattern: 1, width: 1_024, height: 768,
      hash: "7fffd67024afd770026af7750a805775aa6b02aa7dded775a8a9a21208a2228a", quality: 100),
    Vector(
      pattern: 0, width: 97, height: 1_000,
      hash: "fe033e1e01fcc1e1fe033e1e01fcc1e1fe037e1e01fc81e1fe037c1e01fca1e1", quality: 50),
    Vector(
      pattern: 1, width: 5, height: 5,
      hash: "64d9d6359b2669d83b4ec6b169d83b4e96259b2664d9d6359b2669d8294ac4b1", quality: 0),
  ]

  @Test("S2: hashes equal those of the authors' implementation", arguments: vectors)
  func vector(_ vector: Vector) throws {
    let pixels = Self.pixels(vector.pattern, vector.width, vector.height)
    let rated = try #require(Self.rated(vector.width, vector.height, pixels))
    #expect(rated.hash.description == vector.hash)
    #expect(rated.quality == vector.quality)
  }

  @Test("S2: a picture with too few pixels, or too few bytes, has no hash")
  func small() {
    #expect(Self.rated(4, 64, Self.pixels(1, 4, 64)) == nil)
    #expect(Self.rated(64, 64, Self.pixels(1, 64, 63)) == nil)
  }

  @Test("S2: the distance of two hashes is the number of bits that differ")
  func distance() throws {
    var bytes = [UInt8](repeating: 0, count: PDQHash.byteCount)
    let zero = try #require(PDQHash(bytes))
    bytes[0] = 0x81
    bytes[31] = 0x07
    let other = try #require(PDQHash(bytes))
    #expect(zero.distance(to: other) == 5 && other.distance(to: zero) == 5)
    #expect(other.distance(to: other) == 0)
    #expect(PDQHash(hex: Array(other.description.utf8)) == other)
    #expect(PDQHash(bytes.dropLast()) == nil)
    #expect(PDQHash(hex: Array("z".utf8) + Array(other.description.utf8.dropFirst())) == nil)
  }

  @Test("S2: a decoder's messages are read as they were sent, and others are malformed")
  func messages() throws {
    let hash = try #require(PDQHash(Array(1...32)))
    let replies: [DecoderReply] = [
      .hashed(PDQHash.Rated(hash: hash, quality: 100)), .tooSmall, .undecodable,
    ]
    for reply in replies {
      #expect(DecoderReply(reply.bytes) == reply)
      #expect(DecoderReply(reply.bytes + [0]) == nil)
      #expect(DecoderReply(reply.bytes.dropLast()) == nil)
    }
    #expect(DecoderReply([0, 101] + hash.bytes) == nil)
    let greeting = DecoderGreeting(isConfined: true, hasNamespaces: false, hasLandlock: true)
    #expect(DecoderGreeting(greeting.bytes) == greeting)
    #expect(DecoderGreeting([]) == nil)
  }

  private static func rated(_ width: Int, _ height: Int, _ pixels: [UInt8]) -> PDQHash.Rated? {
    pixels.withUnsafeBufferPointer { PDQHash.rated(width: width, height: height, rgb: $0) }
  }

  /// Pattern 0 is a disk on a slope of colours, pattern 1 has fine waves.
  private static func pixels(_ pattern: Int, _ width: Int, _ height: Int) -> [UInt8] {
    let radius = min(width, height) / 4
    var pixels: [UInt8] = []
    pixels.reserveCapacity(3 * width * height)
    for y in 0..<height {
      for x in 0..<width {
        if pattern == 1 {
          pixels.append(UInt8((x * x / width + y * 3) % 256))
          pixels.append(UInt8((x * 2 + y * y / height) % 256))
          pixels.append(UInt8(x * y / width % 256))
          continue
        }
        let (fromLeft, fromTop) = (x - width / 3, y - height / 2)
        let isInside = fromLeft * fromLeft + fromTop * fromTop < radius * radius
        let red = x * 255 / width
        pixels.append(UInt8(isInside ? 255 - red : red))
        pixels.append(UInt8(y * 255 / height))
        pixels.append(UInt8((x + y) * 255 / (width + height)))
      }
    }
    return pixels
  }
}
