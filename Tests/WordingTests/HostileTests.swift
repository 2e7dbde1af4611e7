import FamilyModel
import Testing
import Wording

@Suite struct HostileTests {
  private func asked(_ child: String, _ app: String, _ name: String) -> String {
    let person = Subject(handle: Handle("x", .custom), name: parts(name))
    return Wording(.english).question(
      child: child, app: app, topic: .communication(people: [person], actions: .chat))
  }

  @Test("Q6: a name is never parsed as a format")
  func formats() {
    #expect(
      asked("%2$@", "%3$@ %n", "%@ %1$@ %s %%")
        == "%2$@ would like to chat with %@ %1$@ %s %% in %3$@ %n.")
    #expect(Wording(.english)(.decidedLine, "%2$@", "%1$@") == "%2$@ chose “%1$@”.")
    #expect(Wording(.english).list(["{0}", "%1$@", "{1}"]) == "{0}, %1$@ and {1}")
    let person = Subject(handle: Handle("%1$@", .custom), name: parts("%2$@", nickname: "%1$@"))
    #expect(Wording(.english).person(person) == "%2$@ “%1$@” (%1$@)")
  }

  @Test(
    "Q6: controls in a name cannot forge the sentence", arguments: Language.allCases)
  func controls(_ language: Language) {
    let bad = "a\n\r\t\0\u{1B}\u{85}\u{2028}\u{2029}\u{202A}\u{202E}\u{2066}\u{2069}z"
    let good = "a" + String(repeating: "\u{FFFD}", count: 12) + "z"
    let wording = Wording(language)
    let subject = Subject(handle: Handle(bad, .custom), name: parts(bad, nickname: bad + bad))
    let texts = [
      wording.question(
        child: bad, app: bad, topic: .communication(people: [subject, subject], actions: [])),
      wording.question(child: bad, app: bad, topic: .significantUpdate(description: bad)),
      wording.question(
        child: bad, app: bad,
        topic: .communication(people: [Subject(handle: subject.handle)], actions: [])),
      wording.person(subject), wording.person(Subject(handle: subject.handle)),
      wording.name(parts(bad, bad)), wording.list([bad, bad]), wording(.newMessage, bad),
    ]
    for text in texts {
      #expect(text.contains(good))
      let harmful = text.unicodeScalars.filter {
        $0.properties.generalCategory == .control || (0x2028...0x202E).contains($0.value)
          || (0x2066...0x2069).contains($0.value)
      }
      #expect(harmful.isEmpty)
    }
  }

  @Test("Q6: a name without controls is inserted verbatim")
  func untouched() {
    for name in ["O’Neil \"Bob\"", "👩‍👧", "  x ", "שָׁלוֹם", "e\u{301}", "\u{200F}א\u{200E}"] {
      let text = asked("Emily", "Landmarks", name)
      #expect(
        text.unicodeScalars.elementsEqual(
          "Emily would like to chat with \(name) in Landmarks.".unicodeScalars))
    }
  }
}
