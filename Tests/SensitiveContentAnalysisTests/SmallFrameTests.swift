import ContentCheck
import FamilyModel
import Foundation
import PerceptualHash
import Testing

@testable import SensitiveContentAnalysis

/// The small copies of frames.
@Suite struct SmallFrameTests {
  /// Soft spots of colour on 1,280 by 720 pixels. The number chooses the picture.
  static func frame(_ number: UInt64) -> [UInt8] {
    let (width, height) = (1_280, 720)
    var random = SplitMix(state: number)
    let spots = (0..<80).map { _ in
      (
        x: random.double() * 1_280, y: random.double() * 720, size: 25 + random.double() * 75,
        color: (0..<3).map { _ in random.double() * 320 - 160 }
      )
    }
    var values = [Float](repeating: 128, count: 3 * width * height)
    for spot in spots {
      let reach = Int(2 * spot.size)
      let (left, top) = (max(0, Int(spot.x) - reach), max(0, Int(spot.y) - reach))
      for row in top..<max(top, min(height, Int(spot.y) + reach)) {
        for column in left..<max(left, min(width, Int(spot.x) + reach)) {
          let (x, y) = ((Double(column) - spot.x) / spot.size, (Double(row) - spot.y) / spot.size)
          let weight = Float(max(0, 1 - (x * x + y * y) / 4))
          for color in 0..<3 {
            values[3 * (row * width + column) + color] += weight * weight * Float(spot.color[color])
          }
        }
      }
    }
    return values.map { UInt8(max(0, min(255, $0))) }
  }

  private struct SplitMix {
    var state: UInt64
    mutating func double() -> Double {
      state &+= 0x9E37_79B9_7F4A_7C15
      var value = (state ^ state >> 30) &* 0xBF58_476D_1CE4_E5B9
      value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
      return Double((value ^ value >> 31) >> 11) / Double(1 << 53)
    }
  }

  static func copy(_ bytes: [UInt8], _ layout: SCPixelLayout) -> SmallFrame? {
    SmallFrame(bytes.span.bytes, layout)
  }

  private static func repeated(_ values: [UInt8], _ count: Int) -> [UInt8] {
    (0..<count).flatMap { _ in values }
  }

  private func hash(_ width: Int, _ height: Int, _ rgb: [UInt8]) throws -> PDQHash {
    let rated = rgb.withUnsafeBufferPointer { PDQHash.rated(width: width, height: height, rgb: $0) }
    let hash = try #require(rated)
    #expect(hash.quality >= PDQHash.recommendedQuality)
    return hash.hash
  }

  @Test(
    "S4: a copy is small, keeps the ratio, and its picture fits the limits")
  func sizes() throws {
    for (width, height) in [
      (1_280, 720), (720, 1_280), (2_000, 2_000), (640, 480), (16, 16), (17, 31), (4_000, 500),
      (161, 159), (145, 145), (160, 160),
    ] {
      let layout = SCPixelLayout(.i420, width: width, height: height)
      let bytes = [UInt8](repeating: 100, count: width * height * 3 / 2 + width + height)
      let frame = try #require(Self.copy(bytes, layout))
      #expect(
        max(frame.width, frame.height) <= 160 && frame.rgb.count == 3 * frame.width * frame.height)
      #expect(frame.width <= width && frame.height <= height)
      let ratio = Double(frame.width * height) / Double(frame.height * width)
      #expect((0.94...1.06).contains(ratio))
      try frame.picture.validate()
    }
    #expect(FrameSize.ofCopy(width: 1_280, height: 720) == FrameSize(width: 160, height: 90))
  }

  @Test("S4: each pixel of a copy is the mean of all pixels that it stands for")
  func mean() throws {
    // Two rows of cells: 0 or 200 in halves of a cell, so that no sample alone has the mean.
    let layout = SCPixelLayout(.rgb, width: 320, height: 320)
    let bytes = (0..<320 * 320).flatMap { (index: Int) -> [UInt8] in
      [UInt8(index % 2 * 200), UInt8(index / 320 % 2 * 100), 7]
    }
    let frame = try #require(Self.copy(bytes, layout))
    #expect(frame.width == 144)
    let even = try #require(
      Self.copy(bytes, SCPixelLayout(.rgb, width: 320, height: 160)))
    #expect(even.width == 160 && even.height == 80)
    #expect(even.rgb == Self.repeated([100, 50, 7], 160 * 80))
  }

  @Test("S4: the four formats with padded rows give the same copy")
  func formats() throws {
    let (width, height, padding) = (320, 180, 12)
    let small = SmallFrame(
      width: 160, height: 90, rgb: Self.repeated([60, 120, 200], 160 * 90))
    // BT.601: Y = 16 + 0.257 R + 0.504 G + 0.098 B and so on.
    let (y, u, v) = (UInt8(111), UInt8(172), UInt8(96))
    func rows(_ count: Int, _ row: [UInt8], _ padding: Int) -> [UInt8] {
      Self.repeated(row + [UInt8](repeating: 255, count: padding), count)
    }
    let brightness = rows(height, Self.repeated([y], width), padding)
    let (pairs, us, vs) = (
      Self.repeated([u, v], width / 2), Self.repeated([u], width / 2), Self.repeated([v], width / 2)
    )
    let both = rows(height / 2, pairs, padding)
    let planes = rows(height / 2, us, padding / 2) + rows(height / 2, vs, padding / 2)
    let frames: [(SCPixelLayout.Format, Int, [UInt8])] = [
      (.rgb, 3 * width, rows(height, Self.repeated([60, 120, 200], width), padding)),
      (.bgra, 4 * width, rows(height, Self.repeated([200, 120, 60, 9], width), padding)),
      (.nv12, width, brightness + both), (.i420, width, brightness + planes),
    ]
    for (format, row, bytes) in frames {
      let layout = SCPixelLayout(
        format, width: width, height: height, bytesPerRow: row + padding)
      let copy = try #require(Self.copy(bytes, layout))
      #expect(zip(copy.rgb, small.rgb).allSatisfy { abs(Int($0) - Int($1)) <= 2 })
      // The padding after the last row may be missing, and nothing else.
      let missing = format == .i420 ? padding / 2 : padding
      #expect(Self.copy(bytes.dropLast(missing), layout) == copy)
      #expect(Self.copy(bytes.dropLast(missing + 2), layout) == nil)
    }
  }

  @Test("S4: a wrong layout has no copy")
  func wrong() {
    let bytes = [UInt8](repeating: 0, count: 1 << 16)
    for layout in [
      SCPixelLayout(.rgb, width: 0, height: 16), SCPixelLayout(.rgb, width: 16, height: -1),
      SCPixelLayout(.rgb, width: 15, height: 16), SCPixelLayout(.bgra, width: 16, height: 8_193),
      SCPixelLayout(.rgb, width: .max, height: .max),
      SCPixelLayout(.nv12, width: .min, height: .min),
      SCPixelLayout(.rgb, width: 16, height: 16, bytesPerRow: 47),
      SCPixelLayout(.rgb, width: 16, height: 16, bytesPerRow: .max),
      SCPixelLayout(.rgb, width: 16, height: 16, bytesPerRow: -48),
      SCPixelLayout(.rgb, width: 16, height: 129), SCPixelLayout(.bgra, width: 200, height: 200),
    ] {
      #expect(Self.copy(bytes, layout) == nil, "\(layout)")
    }
    #expect(Self.copy(bytes, SCPixelLayout(.rgb, width: 16, height: 128)) != nil)
  }

  @Test("S4: a copy is recognised as its frame: the perceptual hashes are near")
  func hashes() throws {
    let layout = SCPixelLayout(.rgb, width: 1_280, height: 720)
    var copies: [PDQHash] = []
    for number in 1...3 as ClosedRange<UInt64> {
      let frame = Self.frame(number)
      let copy = try #require(Self.copy(frame, layout))
      let small = try hash(copy.width, copy.height, copy.rgb)
      let distance = small.distance(to: try hash(1_280, 720, frame))
      #expect(distance <= PDQHash.recommendedDistance / 2, "\(distance)")
      copies.append(small)
    }
    for (index, copy) in copies.enumerated() {
      for other in copies[..<index] { #expect(copy.distance(to: other) > 80) }
    }
  }

  @Test("S4: the decoder reads the picture of a copy without a difference")
  func png() async throws {
    let decoder = PictureDecoder(
      program: DecoderProcess.besideThisProgram, timeout: .seconds(600))
    for size in [(width: 1_280, height: 720), (width: 700, height: 700)] {
      let layout = SCPixelLayout(.rgb, width: size.width, height: size.height)
      let frame = try #require(Self.copy(Self.frame(4), layout))
      let right = try hash(frame.width, frame.height, frame.rgb)
      guard case .hashed(let rated) = await decoder.reply(to: frame.picture) else {
        Issue.record("the decoder did not read the picture")
        continue
      }
      #expect(rated.hash == right)
    }
    await decoder.stop()
  }
}
