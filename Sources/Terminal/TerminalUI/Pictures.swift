package import ContentCheck
import Credentials
package import FamilyModel
import Foundation

/// The verdicts of the content check on questions' pictures.
///
/// A terminal draws no pictures. A text describes a clean picture, a warning replaces any other,
/// and the guardian can save both as files.
package struct Pictures: Sendable {
  /// The maximum number of cached verdicts; evicted pictures are checked again.
  static let verdictLimit = 100

  package init() {}

  private var verdicts: [Avatar: ContentVerdict] = [:]
  private var isBeingChecked: Set<Avatar> = []

  /// Whether the picture has the verdict `clean`; every other picture needs a warning.
  package func isClean(_ picture: Avatar) -> Bool { verdicts[picture] == .clean }

  /// The pictures without a verdict, which are marked as being checked.
  package mutating func unchecked(of cards: [Card]) -> [Avatar] {
    cards.flatMap(\.pictures).filter {
      verdicts[$0] == nil && isBeingChecked.insert($0).inserted
    }
  }

  package mutating func record(_ verdict: ContentVerdict, for picture: Avatar) {
    if verdicts.count >= Self.verdictLimit { verdicts = [:] }
    isBeingChecked.remove(picture)
    verdicts[picture] = verdict
  }

  /// Writes the question's pictures to files that only their owner can read.
  ///
  /// - Returns: The files, in the order of the question's people.
  static func write(_ card: Card, number: UInt64, in folder: URL) throws -> [URL] {
    let pictures = folder.appendingPathComponent("pictures")
    try FileManager.default.createDirectory(
      at: pictures, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    return try card.pictures.enumerated().map { index, picture in
      // The header decides the file's extension, because the declared media type is untrusted.
      let format = try ImageHeader(bytes: picture.bytes).format
      let file = pictures.appendingPathComponent("\(number)-\(index + 1).\(format)")
      try PrivateFile.write(Data(picture.bytes), to: file)
      return file
    }
  }
}

extension Card {
  /// The pictures of the people asked about.
  package var pictures: [Avatar] {
    switch question?.topic {
    case .communication(let people, _): people.compactMap(\.avatar)
    case .significantUpdate, .browse, .authorization, nil: []
    }
  }
}
