import AppClient
import ContentCheck
import Dispatch
import FamilyModel
public import Foundation
import PerceptualHash

extension SCSensitivityAnalyzer {
  /// A picture in so few pixels that nobody recognizes what it shows: 12 at the longest side.
  ///
  /// An addition to Apple's API, whose apps blur with other frameworks.
  public struct BlurredImage: Hashable, Sendable {
    /// The number of pixels in a row.
    public let width: Int
    /// The number of rows.
    public let height: Int
    /// Red, green and blue for each pixel, in rows.
    public let rgb: [UInt8]
  }

  /// Blurs a picture for its cover.
  ///
  /// An addition to Apple's API. A stranger's bytes are decoded in a process that may do nothing else, so an app
  /// need not decode a picture before the child chooses to see it. One picture of the app is decoded at a time.
  ///
  /// - Parameter image: The encoded picture, as for ``analyzeImage(_:)``.
  /// - Throws: `DeviceProblem`: the number is 305 or 309 for a picture above the limits or with damage, 422 without
  ///   a device, and 465 without a decoder.
  public func blurredImage(_ image: Data) async throws -> BlurredImage {
    let picture = try Self.picture(image)
    do {
      let decoder = try AppSession.current().decoder
      let program = decoder.map { URL(fileURLWithPath: $0) } ?? DecoderProcess.besideThisProgram
      return try await withCheckedThrowingContinuation { continuation in
        Self.blurring.async {
          continuation.resume(
            with: Result { () throws(Problem) in try Self.blurred(picture, program) })
        }
      }
    } catch { throw DeviceProblem(reason: error) }
  }

  private static let blurring = DispatchQueue(label: "blurred pictures")

  private static func blurred(
    _ picture: Avatar, _ program: URL
  ) throws(Problem) -> BlurredImage {
    let timeout = Limits.videoFrameTimeout
    guard let decoder = try? DecoderProcess(program: program, start: timeout, timeout: timeout)
    else { throw .noVideoDecoder }
    defer { decoder.end() }
    guard decoder.send(blurring: picture),
      let blurred = BlurredPicture(decoder.message(atMost: BlurredPicture.maximumBytes))
    else { throw .badImage }
    return BlurredImage(width: blurred.width, height: blurred.height, rgb: blurred.rgb)
  }
}
