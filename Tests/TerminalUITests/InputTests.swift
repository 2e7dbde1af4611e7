import FamilyModel
@testable import TerminalUI
import Testing

@Suite struct InputTests {
  private func lines(_ bytes: [UInt8]) -> [String] {
    var editor = LineEditor()
    return bytes.compactMap { byte in
      if case .line(let line) = editor.process(byte) { line } else { nil }
    }
  }

  @Test("erase keys edit the line; cursor keys, function keys and invalid UTF-8 are ignored")
  func editing() {
    #expect(lines(Array("abc\u{7F}d\n".utf8)) == ["abd"])
    #expect(lines(Array("日本\u{8}語é\n".utf8)) == ["日語é"])
    #expect(lines(Array("one two\u{17}three\n".utf8)) == ["one three"])
    #expect(lines(Array("gone\u{15}here\n".utf8)) == ["here"])
    #expect(lines(Array("a\u{1B}[A\u{1B}[1;5C\u{1B}OPb\n".utf8)) == ["ab"])
    #expect(lines([0xFF, 0xC3, 0x41, 0x0A]) == ["A"])
    #expect(lines(Array("\u{1B}[200~x\n".utf8)) == ["x"])
    #expect(
      lines(Array(repeating: 0x61, count: 100_000) + [0x0A])[0].count == LineEditor.maximumBytes)
    var editor = LineEditor()
    #expect(editor.process(0x04) == .end)
  }

  @Test(
    "R1, R2, R9, F4, F5, F6, K1: parses a guardian's commands",
    arguments: [
      ("d2", .decline(2)), ("d 2", .decline(2)), ("d #2", .decline(2)), ("r", .review(nil)),
      ("Review 3", .review(3)), ("say  hello there ", .post("hello there")),
      ("limits off", .limits(on: false, child: nil)),
      ("limits on Ann Lee", .limits(on: true, child: "Ann Lee")),
      (
        "contact add phone +1 555 0100",
        .contact(Handle("+1 555 0100", .phoneNumber), known: true)
      ),
      ("contact remove email a@b.c", .contact(Handle("a@b.c", .emailAddress), known: false)),
      ("withdraw", .withdraw), ("withdraw consent a.b", .withdrawConsent(AppID("a.b"))),
      ("consent a.b", .giveConsent(AppID("a.b"))),
      ("passcode", .passcode), ("add child Ann Lee", .addChild("Ann Lee")),
      ("add guardian Ann Lee", .addMember(.guardian, "Ann Lee")), ("family", .members),
      ("invite Ann Lee", .invite("Ann Lee")), ("remove member Ann Lee", .removeMember("Ann Lee")),
      ("remove device 4", .removeDevice(4)),
      (
        "birthdate Ann Lee 2016-02-29",
        .birthdate(child: "Ann Lee", .init(year: 2016, month: 2, day: 29))
      ),
      ("onboard Ann Lee", .onboard("Ann Lee")),
      ("birthdate 1990-05-17", .ownBirthdate(Account.Day(iso: "1990-05-17")!, region: nil)),
      ("birthdate 1990-05-17 FR", .ownBirthdate(Account.Day(iso: "1990-05-17")!, region: "FR")),
      ("with", .children), ("with Noah", .with("Noah")), ("?", .help), ("quit", .quit),
      ("list", .list), ("show", .show), ("notices", .notices), ("dismiss 2", .dismiss(2)),
      ("dismiss all", .dismiss(nil)),
      ("explain ada", .explain(Handle("ada", .custom), nil)),
      ("explain +1 555 0100", .explain(Handle("+1 555 0100", .phoneNumber), nil)),
      ("explain a@b.c in my.chat", .explain(Handle("a@b.c", .emailAddress), AppID("my.chat"))),
      ("explain custom 15550100", .explain(Handle("15550100", .custom), nil)),
    ] as [(String, TerminalCommand)])
  func guardian(_ line: String, _ command: TerminalCommand) {
    #expect(TerminalCommand(line, isGuardian: true) == command)
  }

  @Test(
    "rejects a line that is not a command",
    arguments: [
      "hello", "1234", "d x", "limits maybe", "contact add fax 1", "birthdate Ann 2015-02-29",
      "birthdate Ann 17-05-2014", "cancel 1", "add", "withdraw consent", "consent", "say", "",
      "remove device x", "remove Ann", "add uncle Bob", "onboard", "birthdate 1990-05-17 France",
    ])
  func nothing(_ line: String) { #expect(TerminalCommand(line, isGuardian: true) == nil) }

  @Test("an error shows the usage of the command that the line starts with") func usage() {
    func usage(_ line: String) -> [String] {
      TerminalCommand.usage(of: line, isGuardian: true).map(\.usage)
    }
    #expect(usage("age sometimes") == ["age always|ask|never [APP]", "age forget APP"])
    #expect(usage(" Limits maybe") == ["limits on|off [CHILD]"])
    #expect(usage("d x") == ["d[N]"])
    #expect(usage("hello") == [])
  }

  @Test("R8: a child can cancel a question, and has no guardian's commands") func child() {
    #expect(TerminalCommand("cancel 2", isGuardian: false) == .cancel(2))
    #expect(TerminalCommand("cancel", isGuardian: false) == .cancel(nil))
    for line in [
      "d1", "limits off", "passcode", "contact add email a@b.c", "add child X", "invite X",
    ] {
      #expect(TerminalCommand(line, isGuardian: false) == nil)
    }
  }
}
