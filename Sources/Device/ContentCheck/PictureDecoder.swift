public import Foundation
public import PerceptualHash

/// Computes the perceptual hashes of pictures: the process of `content-decoder`.
public typealias PictureDecoder = PictureProcess<DecoderReply>

extension PictureProcess<DecoderReply> {
  /// Creates a decoder that is not yet running.
  ///
  /// - Parameters:
  ///   - program: The path of `content-decoder`.
  ///   - timeout: The time for the start of the process, and for one picture.
  public convenience init(program: URL, timeout: Duration = ContentLimits.decoderTimeout) {
    self.init(program: program, limits: .decoder(timeout))
  }
}
