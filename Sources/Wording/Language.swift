/// The languages in which the system speaks (Q6); the raw value is the BCP 47 tag.
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

  /// The best match for tags in order of preference; English where none fits.
  ///
  /// A tag is one of BCP 47 (`fr-CA`) or a POSIX locale (`fr_FR.UTF-8`). Only its language counts:
  /// each Portuguese is answered in that of Brazil, each Chinese in simplified characters.
  public static func best(for preferred: [String]) -> Language {
    for tag in preferred {
      let spoken = tag.prefix { $0.isLetter }.lowercased()
      if let found = allCases.first(where: { $0.rawValue.prefix(2) == spoken }) { return found }
    }
    return .english
  }
}
