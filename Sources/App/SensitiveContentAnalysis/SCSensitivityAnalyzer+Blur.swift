import AppClient
import ContentCheck
import FamilyModel
public import Foundation
import PerceptualHash
import Synchronization

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
  /// need not decode a picture before the child chooses to see it. The process stays until the app ends, and
  /// decodes one picture at a time.
  ///
  /// - Parameter image: The encoded picture, as for ``analyzeImage(_:)``.
  /// - Throws: `DeviceProblem`: the number is 305 or 309 for a picture above the limits or with damage, and 422
  ///   without a device. The number is 465 without a decoder, and 462 for one that ended or was too slow.
  public func blurredImage(_ image: Data) async throws -> BlurredImage {
    let picture = try Self.picture(image)
    do {
      let program = DecoderProcess.program(try AppSession.current().decoder)
      return try await Self.blurred(picture, by: Self.decoder(program))
    } catch { throw DeviceProblem(reason: error) }
  }

  private static let decoders = Mutex<[URL: PictureProcess<BlurReply>]>([:])

  private static func decoder(_ program: URL) -> PictureProcess<BlurReply> {
    decoders.withLock { decoders in
      if let decoder = decoders[program] { return decoder }
      let decoder = PictureProcess<BlurReply>(program: program, limits: .decoder())
      decoders[program] = decoder
      return decoder
    }
  }

  static func blurred(
    _ picture: Avatar, by decoder: PictureProcess<BlurReply>
  ) async throws(Problem) -> BlurredImage {
    guard (try? await decoder.start()) != nil else { throw .noVideoDecoder }
    switch await decoder.reply(to: picture) {
    case .blurred(let blurred):
      return BlurredImage(width: blurred.width, height: blurred.height, rgb: blurred.rgb)
    case .undecodable: throw .badImage
    case nil: throw .noVerdict
    }
  }
}
