import ContentCheck
import Credentials
import FamilyModel
import Foundation

/// What the check has found in the pictures that came with questions (S2).
///
/// A terminal draws no picture: it tells of one that is clean, warns of any other, and hands either out
/// as a file when its person asks for it.
struct Pictures: Sendable {
  /// Most verdicts that are remembered; a picture that was forgotten is checked again.
  static let most = 100

  private var verdicts: [Avatar: ContentVerdict] = [:]
  private var isBeingChecked: Set<Avatar> = []

  /// Whether it may be shown without a warning: not before a verdict says so.
  func isClean(_ picture: Avatar) -> Bool { verdicts[picture] == .clean }

  /// The pictures that nobody has looked at; they are being checked from now on.
  mutating func unchecked(of cards: [Card]) -> [Avatar] {
    cards.flatMap(\.pictures).filter {
      verdicts[$0] == nil && isBeingChecked.insert($0).inserted
    }
  }

  mutating func found(_ verdict: ContentVerdict, in picture: Avatar) {
    if verdicts.count >= Self.most { verdicts = [:] }
    isBeingChecked.remove(picture)
    verdicts[picture] = verdict
  }

  /// Writes the question's pictures where only their owner can read them.
  static func write(_ card: Card, number: Int, in folder: URL) throws -> [URL] {
    let pictures = folder.appendingPathComponent("pictures")
    try FileManager.default.createDirectory(
      at: pictures, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    return try card.pictures.enumerated().map { index, picture in
      // The ending is that of what the bytes are, never a stranger's word.
      let format = try ImageHeader(bytes: picture.bytes).format
      let file = pictures.appendingPathComponent("\(number)-\(index + 1).\(format)")
      try PrivateFile.write(Data(picture.bytes), to: file)
      return file
    }
  }
}

extension Card {
  /// The pictures of the people asked about.
  var pictures: [Avatar] {
    guard case .communication(let people, _) = question?.topic else { return [] }
    return people.compactMap(\.avatar)
  }
}
