import Testing

@testable import FamilyModel

private let limit = Limits.avatarPixels

private let good: [(ImageHeader.Format, [UInt8])] = [
  (.png, ImageFixtures.png(32, 20)),
  (.png, ImageFixtures.png(32, 20, before: ImageFixtures.chunk("gAMA", [1]))),
  (.jpeg, ImageFixtures.jpeg(32, 20)),
  (.jpeg, ImageFixtures.jpeg(32, 20, sof: 0xC2, components: 1)),
  (.gif, ImageFixtures.gif(32, 20)), (.webp, ImageFixtures.webp(ImageFixtures.lossy(32, 20))),
  (.webp, ImageFixtures.webp(ImageFixtures.lossless(32, 20))),
  (.webp, ImageFixtures.webp(ImageFixtures.extended(32, 20, ImageFixtures.lossy(32, 20)))),
  (
    .webp,
    ImageFixtures.webp(
      ImageFixtures.extended(
        32, 20, ImageFixtures.riffChunk("ICCP", [1]) + ImageFixtures.lossless(32, 20)))
  ),
]

private let sized: [@Sendable (Int, Int) -> [UInt8]] = [
  { ImageFixtures.png($0, $1) }, { ImageFixtures.jpeg($0, $1) }, { ImageFixtures.gif($0, $1) },
  { ImageFixtures.webp(ImageFixtures.lossy($0, $1)) },
  { ImageFixtures.webp(ImageFixtures.lossless($0, $1)) },
  { ImageFixtures.webp(ImageFixtures.extended($0, $1, ImageFixtures.lossless($0, $1))) },
]

private let animation = ImageFixtures.extended(
  32, 20, flags: 0x02, ImageFixtures.riffChunk("ANIM", .init(repeating: 0, count: 6)))

private let bad: [(String, [UInt8])] = [
  ("nothing", []), ("text", Array("hello".utf8)), ("SVG", Array("<svg xmlns='x'/>".utf8)),
  ("HEIC", [0, 0, 0, 24] + Array("ftypheic".utf8)), ("BMP", Array("BM".utf8)),
  ("AVIF", [0, 0, 0, 24] + Array("ftypavif".utf8)), ("TIFF", [0x49, 0x49, 0x2A, 0]),
  (
    "APNG",
    ImageFixtures.png(32, 20, before: ImageFixtures.chunk("acTL", .init(repeating: 1, count: 8)))
  ),
  ("a second IHDR", ImageFixtures.png(32, 20, before: ImageFixtures.chunk("IHDR", [1]))),
  (
    "a PNG chunk beyond the end",
    ImageFixtures.png(32, 20, before: [0xFF, 0xFF, 0xFF, 0xFF, 1, 2, 3, 4])
  ),
  ("a lossless JPEG", ImageFixtures.jpeg(32, 20, sof: 0xC3)),
  ("an arithmetic JPEG", ImageFixtures.jpeg(32, 20, sof: 0xC9)),
  ("a JPEG with two components", ImageFixtures.jpeg(32, 20, components: 2)),
  ("a JPEG with two frames", ImageFixtures.jpeg(32, 20, repeating: 2)),
  ("a JPEG without a frame", ImageFixtures.jpeg(32, 20, repeating: 0)),
  ("an animated GIF", ImageFixtures.gif(32, 20, images: 2)),
  ("a GIF without an image", ImageFixtures.gif(32, 20, images: 0)),
  ("a GIF beyond its canvas", ImageFixtures.gif(32, 20, left: 1)),
  ("an animated WebP", ImageFixtures.webp(animation)),
  (
    "an animated WebP whose flags claim a still image",
    ImageFixtures.webp(
      ImageFixtures.extended(
        32, 20, ImageFixtures.riffChunk("ANMF", [0]) + ImageFixtures.lossy(32, 20)))
  ),
  (
    "a WebP larger than its canvas",
    ImageFixtures.webp(ImageFixtures.extended(32, 20, ImageFixtures.lossy(4_000, 4_000)))
  ),
  ("a WebP without an image", ImageFixtures.webp(ImageFixtures.extended(32, 20, []))),
  ("a WebP of another kind", ImageFixtures.webp(ImageFixtures.riffChunk("VP9 ", [1]))),
]

@Suite struct ImageHeaderTests {
  @Test("S2: reads format, width and height from the bytes", arguments: good)
  func reads(_ format: ImageHeader.Format, _ bytes: [UInt8]) throws {
    let picture = try ImageHeader(bytes: bytes)
    #expect(picture.format == format)
    #expect(picture.width == 32)
    #expect(picture.height == 20)
  }

  @Test("Q10: accepts sides from one pixel to the limit", arguments: sized.indices)
  func sides(_ index: Int) throws {
    let make = sized[index]
    for (width, height) in [(1, 1), (limit, 1), (1, limit), (limit, limit)] {
      let picture = try ImageHeader(bytes: make(width, height))
      #expect(picture.width == width)
      #expect(picture.height == height)
    }
    for (width, height) in [(0, 1), (1, 0), (limit + 1, 1), (1, limit + 1)] {
      #expect(throws: Problem.badImage) { try ImageHeader(bytes: make(width, height)) }
    }
  }

  @Test("S2: rejects animations, other formats and contradictory headers")
  func refuses() {
    for (name, bytes) in bad {
      #expect(throws: Problem.badImage, "\(name)") { try ImageHeader(bytes: bytes) }
    }
  }

  @Test("S2: rejects a media type that differs from the bytes", arguments: good)
  func agrees(_ format: ImageHeader.Format, _ bytes: [UInt8]) throws {
    try Avatar(mediaType: format.mediaType, bytes: bytes).validate()
    try Avatar(mediaType: format.mediaType.uppercased(), bytes: bytes).validate()
    for other in ImageHeader.Format.allCases.map(\.mediaType) + ["", "image/*", "image/heic"]
    where other != format.mediaType {
      #expect(throws: Problem.badImage) { try Avatar(mediaType: other, bytes: bytes).validate() }
    }
  }

  @Test("Q10: refuses a question with an invalid image; an oversized image has its own number")
  func question() throws {
    func check(_ bytes: [UInt8]) throws {
      try Subject(
        handle: Handle("ada", .custom), avatar: Avatar(mediaType: "image/png", bytes: bytes)
      ).validate()
    }
    let png = ImageFixtures.png(32, 20)
    try check(png + [UInt8](repeating: 0, count: Limits.avatarBytes - png.count))
    #expect(throws: Problem.badImage) { try check([1, 2, 3]) }
    #expect(throws: Problem.imageTooLarge) {
      try check(png + [UInt8](repeating: 0, count: Limits.avatarBytes + 1 - png.count))
    }
    #expect("\(Problem.badImage)".contains("unsupported image format"))
  }

  @Test(
    "S2: no bytes trap, and every accepted image is within the limits", arguments: [1, 2, 3, 4])
  func fuzz(_ seed: UInt64) {
    var random = IDSource(seed: seed)
    let samples = good.map(\.1) + bad.map(\.1)
    for _ in 0..<25_000 {
      var bytes = samples[random.below(samples.count)]
      switch random.below(4) {
      case 0: bytes = Array(bytes.prefix(random.below(16))) + random.bytes(random.below(64))
      case 1: bytes.removeLast(random.below(bytes.count + 1))
      default: break
      }
      for _ in 0..<random.below(6) where !bytes.isEmpty {
        bytes[random.below(bytes.count)] = [0, 0xFF, UInt8(random.below(256))][random.below(3)]
      }
      guard let picture = try? ImageHeader(bytes: bytes) else { continue }
      let sides = 1...limit
      #expect(sides.contains(picture.width) && sides.contains(picture.height), "seed \(seed)")
    }
  }

  @Test("S2: rejects an image that ends before its data", arguments: good)
  func truncated(_ format: ImageHeader.Format, _ bytes: [UInt8]) {
    for count in 0..<(bytes.count - 20) {
      #expect(throws: Problem.badImage) { try ImageHeader(bytes: Array(bytes.prefix(count))) }
    }
  }
}

extension IDSource {
  fileprivate mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(bound)) }

  fileprivate mutating func bytes(_ count: Int) -> [UInt8] {
    (0..<count).map { _ in UInt8(truncatingIfNeeded: next()) }
  }
}
