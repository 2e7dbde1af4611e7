/// The languages of the system's texts; the raw value is the BCP 47 tag.
public enum Language: String, CaseIterable, Sendable {
  /// English.
  case english = "en"
  /// French.
  case french = "fr"
  /// Spanish.
  case spanish = "es"
  /// Portuguese as written in Brazil.
  case brazilianPortuguese = "pt-BR"
  /// Japanese.
  case japanese = "ja"
  /// Chinese in simplified characters.
  case simplifiedChinese = "zh-Hans"

  /// The best match for tags in order of preference; English if none matches.
  ///
  /// A tag is one of BCP 47 (`fr-CA`) or a POSIX locale (`fr_FR.UTF-8`). Only its language counts:
  /// every Portuguese tag matches Brazilian Portuguese, and every Chinese tag simplified Chinese.
  public static func best(for preferred: [String]) -> Language {
    preferred.lazy.compactMap(Language.init(spokenIn:)).first ?? .english
  }

  /// The language of a tag; `nil` if none matches.
  public init?(spokenIn tag: String) {
    let spoken = tag.prefix { $0.isLetter }.lowercased()
    guard let found = Self.allCases.first(where: { $0.rawValue.prefix(2) == spoken }) else {
      return nil
    }
    self = found
  }
}
