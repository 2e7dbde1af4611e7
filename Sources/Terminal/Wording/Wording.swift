import Foundation

/// What the system, not the app, says to a child or a guardian, in one language.
///
/// Names and texts of apps and people are put into the sentences as they are, never taken for a
/// format; of them, only controls are replaced that could fake the sentence around them.
public struct Wording: Sendable {
  /// The language spoken.
  public let language: Language
  /// The language's folder in the resources.
  private let bundle: Bundle

  /// The words of `language`.
  public init(_ language: Language) {
    self.language = language
    // On Linux the package manager writes the names of the folders in lower case.
    bundle =
      [language.rawValue, language.rawValue.lowercased()].lazy
      .compactMap { Bundle.module.path(forResource: $0, ofType: "lproj") }
      .compactMap { Bundle(path: $0) }.first ?? .module
  }

  /// The phrase with its arguments in place; see `Phrase` for what they are.
  public func callAsFunction(_ phrase: Phrase, _ arguments: String...) -> String {
    let one = phrase == .tryAgainIn && arguments == ["1"]
    return text(phrase.rawValue + (one ? ".one" : ""), arguments)
  }

  /// The items as the language enumerates them: “A, B and C”.
  public func list(_ items: [String]) -> String {
    // English of Britain: no comma before the “and”.
    let locale = Locale(identifier: language == .english ? "en-GB" : language.rawValue)
    var listed = items.map(\.harmless)
      .formatted(.list(type: .and, width: .standard).locale(locale))
    // The items have no bidi control any more: these are the formatter's, around Hebrew or Arabic.
    listed.unicodeScalars.removeAll(where: \.isBidiControl)
    return listed
  }

  /// The text under `key`, its placeholders filled.
  func text(_ key: String, _ arguments: [String] = []) -> String {
    bundle.localizedString(forKey: key, value: nil, table: nil).filled(with: arguments)
  }
}
