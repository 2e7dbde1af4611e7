import Foundation

/// The system's texts for children and guardians in one language.
///
/// Names and texts of apps and people are inserted verbatim and never parsed as a format. Only
/// controls that could forge the sentence around them are replaced.
public struct Wording: Sendable {
  /// The language of the texts.
  public let language: Language
  /// The language's folder in the resources.
  private let bundle: Bundle

  /// Loads the texts of `language` from the module's resources.
  public init(_ language: Language) {
    self.language = language
    // On Linux, SwiftPM names the resource folders in lower case.
    bundle =
      [language.rawValue, language.rawValue.lowercased()].lazy
      .compactMap { Bundle.module.path(forResource: $0, ofType: "lproj") }
      .compactMap { Bundle(path: $0) }.first ?? .module
  }

  /// The phrase with its arguments inserted; `Phrase` documents them.
  public func callAsFunction(_ phrase: Phrase, _ arguments: String...) -> String {
    let one = phrase == .tryAgainIn && arguments == ["1"]
    return text(phrase.rawValue + (one ? ".one" : ""), arguments)
  }

  /// The items as a list in the language: “A, B and C”.
  public func list(_ items: [String]) -> String {
    // British English has no comma before “and”.
    let locale = Locale(identifier: language == .english ? "en-GB" : language.rawValue)
    var listed = items.map(\.sanitized)
      .formatted(.list(type: .and, width: .standard).locale(locale))
    // Only the formatter's own bidi controls remain, which it adds around Hebrew and Arabic.
    listed.unicodeScalars.removeAll(where: \.isBidiControl)
    return listed
  }

  /// A time as hours, minutes and seconds: at most two of them, without zeros in front.
  public static func time(_ seconds: some BinaryInteger) -> String {
    let (hours, minutes, rest) = (seconds / 3_600, seconds / 60 % 60, seconds % 60)
    if hours > 0 { return "\(hours) h \(minutes) min" }
    return minutes > 0 ? "\(minutes) min \(rest) s" : "\(rest) s"
  }

  /// The text of `key` with its placeholders replaced.
  func text(_ key: String, _ arguments: [String] = []) -> String {
    bundle.localizedString(forKey: key, value: nil, table: nil).filled(with: arguments)
  }
}
