import FamilyCore
import FamilyModel
@testable import SystemClock
@testable import TerminalUI
import Testing
import Wording

@Suite struct DialogTests {
  private let question = ConversationBuilder.question(1)

  private func dialog(_ prompt: Prompt) -> any Dialog { prompt.dialog(received: renderer().now) }

  @Test(
    "A1, A5: the first prompt offers a message, an in-person answer, or cancelling",
    arguments: [("1", .askByMessage), (" 2 ", .inPerson), ("3", .cancel)]
      as [(String, PromptAnswer)])
  func permission(_ key: String, _ answer: PromptAnswer) {
    var dialog = dialog(.permission(ConversationBuilder.app, question))
    #expect(
      dialog.opening(renderer()).whole.contains(
        "[1] Ask by Message [2] Approve in Person [3] Cancel"))
    #expect(
      dialog.submit("4", renderer())
        == .more(
          renderer().text("Choose a number from 1 to 3, or press Return to leave.", .bad)))
    #expect(dialog.submit(key, renderer()) == .done(.answer(answer)))
  }

  @Test("A1: the window's name stands above its prompt, and cannot forge a line")
  func window() {
    let prompt = Prompt.permission(ConversationBuilder.app, question)
    let rows = prompt.dialog(received: renderer().now, in: "Chats").opening(renderer())
    #expect(rows.first == renderer().text("In the window “Chats”", .faint).first)
    #expect(rows.dropFirst().map(\.text) == dialog(prompt).opening(renderer()).map(\.text))
    let hostile = prompt.dialog(received: renderer().now, in: "\u{1B}[2J\n\u{202E}x")
    for row in hostile.opening(renderer(30)) {
      #expect(row.cells <= 30)
      #expect(!row.text.unicodeScalars.contains { $0.value < 32 || $0.value == 0x202E })
    }
    #expect(!(prompt.dialog(received: renderer().now, in: " ") is WindowDialog))
    var passcode = Prompt.passcode(ConversationBuilder.app, question, wait: .zero, after: nil)
      .dialog(received: renderer().now, in: "Chats")
    #expect(passcode.isHidden)
    #expect(passcode.submit("", renderer()) == .done(.answer(.cancel)))
  }

  @Test("A2: the compose sheet addresses all guardians, and the child can add names")
  func compose() {
    let guardians = ConversationBuilder().link(1).roster.guardians
    var dialog = dialog(
      .compose(
        ConversationBuilder.app, ConversationBuilder.question(1, ["ada", "bob"]), to: guardians))
    let opening = dialog.opening(renderer()).whole
    #expect(opening.contains("To: Rosa and Alex"))
    #expect(opening.contains("[3] Add a name for ada [4] Add a name for bob"))
    #expect(dialog.submit("4", renderer()) == .more([]))
    #expect(dialog.label(renderer()) == "Add a name for bob › ")
    guard case .more(let rows) = dialog.submit(" Bob the Builder ", renderer()) else {
      return #expect(Bool(false))
    }
    #expect(rows.whole.contains("• Bob the Builder (bob)"))
    var name = NameParts()
    name.given = "Bob the Builder"
    #expect(dialog.submit("1", renderer()) == .done(.answer(.send(names: [nil, name]))))
    #expect(dialog.submit("2", renderer()) == .done(.answer(.cancel)))
  }

  @Test("A4: passcode input is hidden and delayed, and an empty line cancels")
  func passcode() {
    var dialog = dialog(
      .passcode(ConversationBuilder.app, question, wait: .milliseconds(59_001), after: .wrong))
    #expect(dialog.isHidden)
    #expect(dialog.opening(renderer()).whole.contains("Incorrect passcode"))
    #expect(dialog.label(renderer()) == "Try again in 60 seconds. › ")
    #expect(
      dialog.submit("123456", renderer())
        == .more(renderer().text("Try again in 60 seconds.", .bad)))
    let later = renderer(at: 61)
    #expect(dialog.label(later) == "Enter the Screen Time passcode › ")
    #expect(
      dialog.submit("123456", later) == .done(.answer(.passcode("123456", choice: "approve"))))
    #expect(dialog.submit("", later) == .done(.answer(.cancel)))
  }

  @Test("T8: the prompt shows why a passcode was not checked", arguments: Language.allCases)
  func unchecked(_ language: Language) {
    let renderer = renderer(79, language)
    for (problem, phrase) in [
      (Problem.noRelay, Phrase.passcodeNeedsRelay), (.noPasscode, .noPasscode),
      (.passcodeOutdated, .passcodeOutdated),
      (.passcodeLocked(retryAfter: .minutes(1)), .passcodeLocked),
    ] {
      let wait = problem.retryAfter
      let failure = PasscodeFailure.unchecked(problem)
      for prompt in [
        Prompt.passcode(ConversationBuilder.app, question, wait: wait, after: failure),
        .ageSettings(AgeSettings(), wait: wait, after: failure),
      ] {
        let dialog = dialog(prompt)
        let text = renderer.text(renderer.wording(phrase), .bad).whole
        #expect(dialog.opening(renderer).whole.contains(text))
        let isLocked = dialog.label(renderer) == renderer.wording(.tryAgainIn, "60") + " › "
        #expect(isLocked == (wait > .zero))
      }
    }
  }

  @Test("A4, Q7: the guardian chooses one of several approvals")
  func choices() {
    let choices = [
      Choice(id: "always", title: "Always", answer: .approval),
      Choice(id: "today", title: "Today", answer: .approval), .decline,
    ]
    var dialog = dialog(
      .passcode(
        ConversationBuilder.app, ConversationBuilder.question(1, choices: choices), wait: .zero,
        after: nil))
    #expect(!dialog.isHidden)
    #expect(
      dialog.opening(renderer()).whole.contains(
        "[1] Approve – “Always” [2] Approve – “Today” [3] Decline [4] Cancel"))
    _ = dialog.submit("2", renderer())
    #expect(dialog.isHidden)
    #expect(
      dialog.submit("123456", renderer()) == .done(.answer(.passcode("123456", choice: "today"))))
  }

  @Test("A6: a repeated question offers a reminder") func again() {
    var dialog = dialog(.alreadyAsked(ConversationBuilder.app, question, mayRemind: true))
    #expect(dialog.opening(renderer()).whole.contains("already asked about dragonslayer42"))
    #expect(dialog.submit("1", renderer()) == .done(.answer(.remind)))
    var early = self.dialog(.alreadyAsked(ConversationBuilder.app, question, mayRemind: false))
    #expect(early.opening(renderer()).whole.contains("[1] Leave It"))
    #expect(early.submit("1", renderer()) == .done(.answer(.cancel)))
  }

  @Test("Q5: an update's prompt quotes the app's description, and can be acknowledged")
  func update() {
    let question = Question(
      id: QuestionID(high: 1, low: 1), topic: .significantUpdate(description: "Now with chats."))
    var dialog = dialog(.acknowledge(ConversationBuilder.app, question))
    #expect(dialog.opening(renderer()).whole.contains("“Now with chats.” [1] OK [2] Cancel"))
    #expect(dialog.submit("1", renderer()) == .done(.answer(.acknowledge)))
    let first = self.dialog(.permission(ConversationBuilder.app, question)).opening(renderer())
      .whole
    #expect(first.contains("You need permission") && first.contains("Now with chats."))
  }

  @Test("R2: a review shows all details and offers the question's choices") func review() {
    let child = ConversationBuilder().link(1).roster.children[0]
    let card = Card(ConversationBuilder.header(question), question)
    var dialog = ReviewDialog(card: card, child: child, titles: ["Approuver", "Refuser"])
    #expect(
      dialog.opening(renderer(79, .french)).whole.contains(
        "[1] Approuver [2] Refuser [3] Pas maintenant"))
    #expect(dialog.submit("2", renderer()) == .done(.choose(question.id, "decline")))
    #expect(dialog.submit("3", renderer()) == .done(.nothing))
  }

  @Test("A4: a new passcode is typed twice") func newPasscode() {
    var dialog = PasscodeDialog()
    #expect(dialog.isHidden)
    #expect(
      dialog.submit("12345", renderer())
        == .more(renderer().text("A passcode has from 6 to 64 characters.", .bad)))
    _ = dialog.submit("123456", renderer())
    #expect(
      dialog.submit("432143", renderer())
        == .more(renderer().text("The passcodes don’t match.", .bad)))
    _ = dialog.submit("123456", renderer())
    #expect(dialog.submit("123456", renderer()) == .done(.passcode("123456")))
  }

  @Test("A1, A2, A4, A6, R2: no dialog is wider than the terminal", arguments: Language.allCases)
  func widths(_ language: Language) {
    let question = ConversationBuilder.question(
      1, ["someone.with.a.very.long.address@example.com", "b"], name: "Ada")
    let guardians = ConversationBuilder().link(1).roster.guardians
    for columns in [79, 49, 39] {
      let renderer = renderer(columns, language)
      for prompt: Prompt in [
        .permission(ConversationBuilder.app, question),
        .compose(ConversationBuilder.app, question, to: guardians),
        .alreadyAsked(ConversationBuilder.app, question, mayRemind: true),
        .passcode(ConversationBuilder.app, question, wait: .minutes(1), after: .wrong),
        .acknowledge(ConversationBuilder.app, question),
      ] {
        for row in prompt.dialog(received: renderer.now).opening(renderer) {
          #expect(row.cells <= columns, "\(row.text)")
        }
      }
    }
  }
}

/// Choices whose titles claim the opposite of what they do.
@Suite struct MisleadingChoiceTests {
  private let question = ConversationBuilder.question(
    1,
    choices: [
      Choice(id: "no", title: "Decline", answer: .approval),
      Choice(id: "always", title: "Always", answer: .approval),
      Choice(id: "yes", title: "Approve", answer: .denial),
    ])

  @Test("Q13: review and in-person dialogs show what each choice does")
  func dialogs() {
    var builder = ConversationBuilder()
    builder.ask(question)
    let review = ReviewDialog(
      card: Card(builder.link(1).conversations[PersonID(3)]!.questions[question.id]!),
      child: builder.link(1).roster.children[0],
      titles: question.choices.map { renderer().wording.choice($0) })
    let menu = "[1] Approve – “Decline” [2] Approve – “Always” [3] Decline – “Approve”"
    #expect(review.opening(renderer(100)).whole.contains(menu))
    var inPerson = Prompt.passcode(ConversationBuilder.app, question, wait: .zero, after: nil)
      .dialog(received: renderer().now)
    #expect(inPerson.opening(renderer(100)).whole.contains(menu))
    guard case .more(let rows) = inPerson.submit("1", renderer()) else {
      return #expect(Bool(false))
    }
    #expect(rows.whole.contains("Approve – “Decline”"))
  }

  @Test("Q13: the conversation shows what the decision does, also for the child")
  func decision() {
    var builder = ConversationBuilder()
    builder.ask(question)
    builder.decide(1, question, question.choices[0])
    #expect(builder.screen(3, renderer(100)).whole.contains("Approve – “Decline”"))
    #expect(builder.screen(1, renderer(100)).whole.contains("Approve – “Decline”"))
  }

  @Test("Q5: the compose sheet and the passcode prompt show an update's description")
  func update() {
    let update = Question(
      id: QuestionID(high: 1, low: 9), topic: .significantUpdate(description: "Now with chats."))
    for prompt: Prompt in [
      .compose(ConversationBuilder.app, update, to: []),
      .passcode(ConversationBuilder.app, update, wait: .zero, after: nil),
    ] {
      let rows = prompt.dialog(received: renderer().now).opening(renderer())
      #expect(rows.whole.contains("Now with chats."))
    }
    let again = Prompt.alreadyAsked(ConversationBuilder.app, update, mayRemind: false)
      .dialog(received: renderer().now)
    #expect(again.opening(renderer(100)).whole.contains("already asked about this change"))
  }
}
