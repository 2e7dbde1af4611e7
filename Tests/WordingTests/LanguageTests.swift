import Testing
import Wording

@Suite struct LanguageTests {
  @Test(
    "Q6: the language is the first supported one of the preferred languages, or English",
    arguments: [
      (["en"], .english), (["fr-CA"], .french), (["fr_FR.UTF-8"], .french), (["FR"], .french),
      (["es-419"], .spanish), (["es_MX.UTF-8"], .spanish), (["pt"], .brazilianPortuguese),
      (["pt-PT"], .brazilianPortuguese), (["pt_BR.UTF-8@euro"], .brazilianPortuguese),
      (["ja"], .japanese), (["ja_JP.eucJP"], .japanese), (["zh"], .simplifiedChinese),
      (["zh_TW.UTF-8"], .simplifiedChinese), (["zh-Hans-CN"], .simplifiedChinese),
      (["de-DE", "ja-JP", "fr"], .japanese), (["C", "es"], .spanish), (["C.UTF-8"], .english),
      (["POSIX"], .english), ([], .english), ([""], .english), (["fra", "de", "tlh"], .english),
      (["estonian"], .english), (["en-GB", "fr"], .english),
    ] as [([String], Language)])
  func best(_ preferred: [String], _ expected: Language) {
    #expect(Language.best(for: preferred) == expected)
  }

  @Test("Q6: each language is the best match for its own tag", arguments: Language.allCases)
  func own(_ language: Language) {
    #expect(Language.best(for: [language.rawValue]) == language)
  }
}
