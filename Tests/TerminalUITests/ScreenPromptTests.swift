@testable import DeviceScreen
@testable import DeviceAgent
import FamilyCore
import FamilyModel
import Foundation
@testable import TerminalUI
import Testing
import Wording

/// The prompts of Emily's device as documents, and the answers of a client.
@Suite struct ScreenPromptTests {
  private static let app = ConversationBuilder.app
  private static let now = ConversationBuilder.start
  private let question = ConversationBuilder.question(1, ["dragonslayer42", "maria"])

  private func open(_ prompt: Prompt) -> OpenPrompt {
    OpenPrompt(id: 5, prompt: prompt, window: "Chats", received: Self.now)
  }

  private func document(_ prompt: Prompt) -> Screen.Prompt {
    let builder = ConversationBuilder()
    let source = DeviceSource(
      view: DeviceView(
        link: builder.link(3), name: "Emily", isGuardian: false, relay: .connected,
        notifications: builder.notifications(3)),
      role: .child, prompts: [open(prompt)])
    return Screen(source, Wording(.english), now: Self.now).prompts[0]
  }

  @Test("A1, X4: the first prompt offers to ask, and in person only with a passcode")
  func permission() {
    let prompt = document(.permission(Self.app, question))
    #expect((prompt.id, prompt.kind, prompt.window) == (5, "permission", "Chats"))
    #expect(prompt.appID == "example.landmarks" && prompt.people.count == 2)
    #expect(
      prompt.title == "You need permission from a parent or guardian to communicate with "
        + "dragonslayer42 and maria in example.landmarks.")
    #expect(prompt.choices.map(\.id) == ["askByMessage", "cancel"])
    #expect(prompt.choices.map(\.role) == ["primary", "cancel"])
    let prompted = open(.permission(Self.app, question))
    #expect(prompted.answer("askByMessage") == .askByMessage)
    #expect(prompted.answer("approveInPerson") == .inPerson)
    #expect(prompted.answer("cancel") == .cancel && prompted.answer("send") == nil)
  }

  @Test("A2, X4: the compose sheet has a field for each person, and typed names are sent")
  func compose() {
    let rosa = Person(id: PersonID(1), role: .organizer, displayName: "Rosa")
    let prompt = document(.compose(Self.app, question, to: [rosa]))
    #expect(prompt.to == "To: Rosa" && prompt.choices.map(\.id) == ["send", "cancel"])
    #expect(
      prompt.fields.map(\.label) == ["Add a name for dragonslayer42", "Add a name for maria"])
    #expect(
      prompt.title
        == "Emily would like to send messages to dragonslayer42 and maria in example.landmarks.")
    var ada = NameParts()
    ada.given = "Ada"
    let open = open(.compose(Self.app, question, to: [rosa]))
    #expect(open.answer("send", names: [" Ada ", "", "extra"]) == .send(names: [ada, nil]))
    let long = open.answer("send", names: [String(repeating: "é", count: 200)])
    guard case .send(let names) = long else { return #expect(Bool(false)) }
    #expect(names[0]?.given.utf8.count == Limits.titleBytes)
  }

  @Test("A4, X4: a passcode needs a choice of the question, and waits") func passcode() {
    let prompt = document(.passcode(Self.app, question, wait: .seconds(3), after: .wrong))
    #expect(prompt.failure == "Incorrect passcode")
    #expect(prompt.waitUntil == (Self.now + .seconds(3)).milliseconds)
    #expect(prompt.choices.map(\.id) == ["approve", "decline", "cancel"])
    let open = open(.passcode(Self.app, question, wait: .zero, after: nil))
    #expect(open.answer("approve", passcode: "731950") == .passcode("731950", choice: "approve"))
    #expect(open.answer("approve") == nil && open.answer("approve", passcode: "") == nil)
    #expect(open.answer("other", passcode: "731950") == nil && open.answer("cancel") == .cancel)
  }

  @Test("X4: a choice that an app calls cancel needs the passcode, and the button cancels")
  func choiceNamedCancel() {
    let choice = Choice(id: "cancel", title: "Yes", answer: .approval)
    let question = ConversationBuilder.question(1, choices: [choice, .decline])
    let open = open(.passcode(Self.app, question, wait: .zero, after: nil))
    #expect(open.answer("cancel") == .cancel)
    #expect(open.answer("cancel", passcode: "731950") == .passcode("731950", choice: "cancel"))
  }

  @Test("A6, X4: the other prompts have their own choices") func others() {
    #expect(
      document(.alreadyAsked(Self.app, question, mayRemind: true)).choices.map(\.id)
        == ["remind", "cancel"])
    #expect(
      document(.alreadyAsked(Self.app, question, mayRemind: false)).choices.map(\.id)
        == ["cancel"])
    #expect(open(.alreadyAsked(Self.app, question, mayRemind: false)).answer("remind") == nil)
    let range = AgeRange(lower: 13, upper: 15, declaration: nil)
    let age = document(.ageRange(Self.app, range))
    #expect(
      age.title
        == "example.landmarks would like to know your age range. Share “13 to 15 years”?")
    #expect(age.choices.map(\.id) == ["share", "dontShare", "cancel"])
    #expect(open(.ageRange(Self.app, range)).answer("dontShare") == .dontShare)
    let settings = document(.ageSettings(AgeSettings(), wait: .zero, after: nil))
    #expect(settings.choices.map(\.id) == ["confirm", "cancel"] && settings.app == nil)
    let confirmed = open(.ageSettings(AgeSettings(), wait: .zero, after: nil))
    #expect(confirmed.answer("confirm", passcode: "731950") == .passcode("731950", choice: nil))
    #expect(confirmed.answer("confirm") == nil)
    #expect(open(.acknowledge(Self.app, question)).answer("acknowledge") == .acknowledge)
  }
}
