import FamilyModel
import Foundation

func wire(_ number: UInt64, _ analysis: PictureAnalysis) -> PBPictureVerdict {
  .with {
    $0.number = number
    switch analysis {
    case .checked(let isSensitive): $0.sensitive = isSensitive
    case .failed(let problem): $0.failed = problem.wire
    }
  }
}

extension PictureAnalysis {
  init(_ wire: PBPictureVerdict) throws(Problem) {
    switch wire.body {
    case .sensitive(let isSensitive): self = .checked(isSensitive: isSensitive)
    case .failed(let problem): self = .failed(try Problem(problem))
    case nil: throw .malformed
    }
  }
}

extension Avatar {
  var wire: PBAvatar {
    .with {
      $0.mediaType = mediaType
      $0.data = Data(bytes)
    }
  }

  /// Accepts any size and media type; the caller validates the picture.
  init(_ wire: PBAvatar) { self.init(mediaType: wire.mediaType, bytes: [UInt8](wire.data)) }
}
