import FamilyCore
import FamilyModel
import Testing
import Wording

@Suite struct ExplanationTests {
  private static let at = Instant(milliseconds: 5)
  private static let rules: [HandleExplanation.Rule] = [
    .notAHandle(.badHandle), .neverAsked, .sending, .waiting(since: at, until: at),
    .expired(at: at), .cancelled(asked: at), .approved(by: PersonID(1), at: at, ends: nil),
    .approvalEnded(by: PersonID(1), at: at, ended: at), .declined(by: PersonID(1), at: at),
    .withdrawn(by: PersonID(1), at: at),
    .contact(by: PersonID(1), at: at), .contactRemoved(by: PersonID(1), at: at), .unreadable,
    .limitsOff, .consentWithdrawn(by: PersonID(1), at: at), .ratedAbove, .notTaken, .neverListened,
    .notNamed,
  ]

  private func sentences(_ rule: HandleExplanation.Rule, _ language: Language) -> [String] {
    let explanation = HandleExplanation(
      handle: Handle("ada", .custom), app: AppID("my.chat"), isKnown: false, rule: rule)
    return Wording(language).sentences(
      explanation, name: { _ in "Rosa" }, app: \.rawValue,
      time: { _ in "10:00" })
  }

  @Test(
    "X6: each rule has its own sentence and name in every language", arguments: Language.allCases)
  func texts(_ language: Language) {
    let texts = Self.rules.map { sentences($0, language)[1] }
    #expect(Set(texts).count == Self.rules.count)
    #expect(Set(Self.rules.map(\.name)).count == Self.rules.count)
    for rule in Self.rules {
      let decided = rule.decision != nil
      #expect(sentences(rule, language)[1].contains("Rosa") == decided)
    }
    #expect(sentences(.waiting(since: Self.at, until: Self.at), language).count == 3)
  }

  @Test("R5: a desktop notification names no person, app or handle", arguments: Language.allCases)
  func desktop(_ language: Language) {
    let wording = Wording(language)
    let notices: [Notice] = [
      .decided(
        ID128(high: 1, low: 1), ChoiceHeader(id: "approve", answer: .approval), by: PersonID(1)),
      .withdrawn(.handle(Handle("dragonslayer42", .custom), in: AppID("my.chat")), by: PersonID(1)),
      .ageShared(AppID("my.chat"), AgeRange(lower: 13, upper: 15, declaration: nil)),
      .message(child: PersonID(3), from: PersonID(1), seq: 1), .reminded(ID128(high: 1, low: 1)),
    ]
    for notice in notices {
      for isGuardian in [true, false] {
        let text = wording.desktop(notice, isGuardian: isGuardian) ?? ""
        #expect(!text.isEmpty && !text.contains("%"))
        for secret in ["dragonslayer42", "my.chat", "13", "Approve"] {
          #expect(!text.contains(secret))
        }
      }
    }
    #expect(wording.desktop(.noPasscode, isGuardian: false) == nil)
  }
}
