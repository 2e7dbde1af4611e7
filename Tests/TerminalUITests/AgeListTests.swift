@testable import FamilyCore
import FamilyModel
import Testing
import Wording

@testable import TerminalUI

@Suite struct AgeListTests {
  private func explanation(
    _ app: String, _ rule: AgeExplanation.Rule, _ range: AgeRange?, changes: Bool = true
  ) -> AgeExplanation {
    AgeExplanation(
      app: AppID(app), gates: [13, 16], rule: rule, sharing: .askFirst, isAppSetting: false,
      range: range, answeredOn: Account.Day(iso: "2026-11-21"),
      changesOn: changes ? Account.Day(iso: "2027-11-21") : nil)
  }
  private var teen: AgeRange { AgeRange(lower: 13, upper: 15, declaration: .guardianDeclared) }

  private func lines(_ settings: AgeSettings, _ explanations: [AgeExplanation]) -> [String] {
    renderer().ages(of: "Emily", settings, explanations).texts
  }

  @Test("D16: lists what each app learned, when, and when it can change next") func list() {
    var settings = AgeSettings()
    settings.apps = [AppID("example.other"): .never]
    let shown = lines(
      settings,
      [
        explanation("example.landmarks", .rememberedAnswer, teen),
        explanation("example.other", .never, nil, changes: false),
      ])
    #expect(
      shown == [
        "Apps and the age range: ask first", "• example.other: never share",
        "• example.landmarks: 13 to 15 years", "  since 2026-11-21 · can change on 2027-11-21",
        "• example.other: not shared", "  since 2026-11-21",
      ])
  }

  @Test("D16: names the law, the sandbox, and that no app has asked") func others() {
    var settings = AgeSettings()
    #expect(lines(settings, []).last == "No app has received an answer about Emily’s age.")
    #expect(
      lines(settings, [explanation("example.landmarks", .requiredByLaw, teen)])
        .contains("The law of the region requires apps to receive the age range."))
    settings.sandbox = .under13
    #expect(lines(settings, []).contains("The sandbox case under-13 answers apps."))
  }

  @Test("D16: no line is wider than the terminal", arguments: Language.allCases)
  func widths(_ language: Language) {
    var settings = AgeSettings()
    settings.sandbox = .adultPaymentChecked
    for columns in [20, 40, 79] {
      let rows = renderer(columns, language).ages(
        of: "Emily", settings, [explanation("example.landmarks", .requiredByLaw, teen)])
      #expect(rows.allSatisfy { $0.cells <= columns })
    }
  }

  @Test("D15, D16: the commands ages and sandbox") func commands() {
    for isGuardian in [true, false] {
      #expect(TerminalCommand("ages", isGuardian: isGuardian) == .ages)
      #expect(
        TerminalCommand("sandbox under-13", isGuardian: isGuardian) == .sandbox(.under13))
      #expect(TerminalCommand("sandbox off", isGuardian: isGuardian) == .sandbox(nil))
      #expect(TerminalCommand("sandbox teen-14", isGuardian: isGuardian) == nil)
    }
  }
}
