import ContentCheck
import FamilyModel
import Foundation
import PermissionKitTesting
import PerceptualHash
import Testing

@testable import SensitiveContentAnalysis

/// The cover of a picture.
@Suite(.timeLimit(.minutes(10))) struct BlurTests {
  /// A picture whose left half is red and whose right half is blue.
  private static let flag = SmallFrame(
    width: 64, height: 48,
    rgb: (0..<64 * 48).flatMap { $0 % 64 < 32 ? [200, 0, 0] : [0, 0, 100] })

  @Test("S2: a confined process blurs a picture to a few pixels")
  func blurs() async throws {
    try await TestFamily().app {
      let blurred = try await SCSensitivityAnalyzer().blurredImage(Data(Self.flag.png))
      #expect((blurred.width, blurred.height) == (12, 9))
      let row: [UInt8] = (0..<12).flatMap { $0 < 6 ? [200, 0, 0] : [0, 0, 100] }
      #expect(blurred.rgb == Array(repeating: row, count: 9).flatMap(\.self))
    }
  }

  @Test("S2: damaged and foreign bytes have no blurred picture")
  func damaged() async throws {
    try await TestFamily().app {
      let analyzer = SCSensitivityAnalyzer()
      for bytes in [Data(Self.flag.png.prefix(200)), Data("text".utf8)] {
        #expect(await problem { _ = try await analyzer.blurredImage(bytes) } == 309)
      }
      #expect(await problem { _ = try await analyzer.blurredImage(Data(count: 65_537)) } == 305)
    }
    #expect(
      await problem { _ = try await SCSensitivityAnalyzer().blurredImage(Data(Self.flag.png)) }
        == 422)
  }

  private func decoder(_ program: URL, timeout: Duration) -> PictureProcess<BlurReply> {
    PictureProcess(
      program: program,
      limits: ProcessLimits(
        start: .seconds(60), picture: timeout, interval: .zero, wait: .seconds(600)))
  }

  private func number(_ decoder: PictureProcess<BlurReply>) async -> Problem? {
    do throws(Problem) {
      _ = try await SCSensitivityAnalyzer.blurred(Self.flag.picture, by: decoder)
      return nil
    } catch { return error }
  }

  @Test(
    "S2: without a decoder that confines itself there is no blurred picture",
    arguments: ["/missing", "/bin/true"])
  func noDecoder(_ program: String) async {
    let decoder = decoder(URL(fileURLWithPath: program), timeout: .seconds(60))
    #expect(await number(decoder) == .noVideoDecoder)
  }

  @Test("S2: a decoder that hangs or is killed has no answer, and the next picture has one")
  func faults() async throws {
    let slow = decoder(DecoderProcess.besideThisProgram, timeout: .milliseconds(200))
    _ = try await slow.start()
    let process = try #require(slow.process)
    kill(process, SIGSTOP)
    #expect(await number(slow) == .noVerdict)
    await slow.stop()
    let decoder = decoder(DecoderProcess.besideThisProgram, timeout: .seconds(60))
    _ = try await decoder.start()
    kill(try #require(decoder.process), SIGKILL)
    #expect(await number(decoder) == .noVerdict)
    #expect(await number(decoder) == nil)
    await decoder.stop()
  }

  @Test(
    "S2: no side of a blurred picture is longer than 12 pixels, and none is empty",
    arguments: [(1, 1, 1, 1), (12, 5, 12, 5), (13, 1_000, 1, 12), (1_024, 3, 12, 1)])
  func sides(_ width: Int, _ height: Int, _ columns: Int, _ rows: Int) {
    let grey = [UInt8](repeating: 77, count: 3 * width * height)
    let blurred = grey.withUnsafeBufferPointer {
      BlurredPicture(width: width, height: height, rgb: $0)
    }
    #expect(blurred.width == columns && blurred.height == rows)
    #expect(blurred.rgb == [UInt8](repeating: 77, count: 3 * columns * rows))
    let bytes = BlurReply.blurred(blurred).bytes
    #expect(BlurReply(bytes) == .blurred(blurred))
    #expect(BlurReply(bytes.dropLast()) == nil && BlurReply([8] + bytes.dropFirst()) == nil)
  }

  @Test("S2: a message with longer or empty sides is no blurred picture", arguments: [0, 13])
  func message(_ side: UInt8) {
    let pixels = [UInt8](repeating: 0, count: 3 * Int(side))
    #expect(BlurReply([6, side, 1] + pixels) == nil)
    #expect(BlurReply([7]) == .undecodable && BlurReply([7, 7]) == nil && BlurReply([]) == nil)
  }
}
