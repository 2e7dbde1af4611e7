import FamilyModel
import Testing
import Wording

@Suite struct ChoiceTests {
  private static let titles = [
    "Always", "Approve", "Decline", "Decline\n\nApprove", "\u{202E}enilceD", " ", "\u{200B}",
    String(repeating: "Decline ", count: 32),
  ]

  @Test(
    "Q13: every choice begins with its meaning, whatever its title", arguments: Language.allCases)
  func meaning(_ language: Language) {
    let wording = Wording(language)
    #expect(wording.meaning(.approval) != wording.meaning(.denial))
    for (title, answer) in Self.titles.flatMap({ [($0, Answer.approval), ($0, Answer.denial)] }) {
      for id in ["approve", "decline", "always"] {
        let text = wording.choice(Choice(id: id, title: title, answer: answer))
        #expect(text.hasPrefix(wording.meaning(answer)), "\(text)")
        #expect(!text.contains("\n") && !text.contains("\u{202E}"))
      }
    }
  }

  @Test("Q13: the default choices show their meaning alone, other choices the title as well")
  func titles() {
    let wording = Wording(.english)
    #expect(wording.choice(.approve) == "Approve")
    #expect(wording.choice(.decline) == "Decline")
    let always = Choice(id: "always", title: "Always", answer: .approval)
    #expect(wording.choice(always) == "Approve – “Always”")
    let trap = Choice(id: "decline", title: "Decline", answer: .approval)
    #expect(wording.choice(trap) == "Approve – “Decline”")
  }
}
