import FamilyCore
import FamilyModel
@testable import TerminalUI
import Testing
import Wording

/// Dialogs of a guardian about the family, and how a person leaves a dialog.
@Suite struct FamilyDialogTests {
  private let mia = Person(id: PersonID(5), role: .child, displayName: "Mia")

  private func submit(_ line: String, _ dialog: inout OnboardingDialog) -> DialogStep {
    dialog.submit(line, renderer())
  }

  @Test("F8: the set-up explains age ranges and asks for the steps that are not done, one by one")
  func onboarding() {
    var dialog = OnboardingDialog(child: mia, steps: OnboardingStep.allCases, isFirst: true)
    let opening = dialog.opening(renderer()).whole
    for text in ["Set up Mia’s account", "never learns the birthdate", "When was Mia born?"] {
      #expect(opening.contains(text), "\(opening)")
    }
    for wrong in ["soon", "2035-01-01", "2015-02-29"] {
      guard case .more(let rows) = submit(wrong, &dialog) else { return #expect(Bool(false)) }
      #expect(rows.whole.contains("“\(wrong)” is not a day in the past."))
    }
    // The birthdate is confirmed, and can be changed before.
    guard case .more(let confirm) = submit("2015-05-17", &dialog) else {
      return #expect(Bool(false))
    }
    #expect(confirm.whole.contains("Mia was born on 2015-05-17. [1] That Is Right [2] Change"))
    guard case .more(let again) = submit("2", &dialog) else { return #expect(Bool(false)) }
    #expect(again.whole.contains("When was Mia born?"))
    _ = submit("2015-05-18", &dialog)
    #expect(
      submit("1", &dialog)
        == .done(
          .onboard(
            mia, .birthdate(Account.Day(iso: "2015-05-18")!), next: [.sharing, .device])))
  }

  @Test("F8: each later step is one choice, and an empty line leaves the set-up")
  func steps() {
    var sharing = OnboardingDialog(child: mia, steps: [.sharing, .device], isFirst: false)
    #expect(
      sharing.opening(renderer()).whole
        == "May apps receive Mia’s age range? [1] Always [2] After Asking the Child [3] Never")
    #expect(submit("3", &sharing) == .done(.onboard(mia, .sharing(.never), next: [.device])))
    var device = OnboardingDialog(child: mia, steps: [.device], isFirst: false)
    #expect(submit("1", &device) == .done(.onboard(mia, .invite, next: [])))
    #expect(submit("2", &device) == .done(.onboard(mia, .later, next: [])))
    #expect(device.leaving == .onboard(mia, nil, next: []))
  }

  @Test("F8: the unfinished steps follow from the family's log, on each guardian's device")
  func derived() {
    var builder = ConversationBuilder()
    let child = PersonID(3)
    #expect(builder.link(2).onboarding(of: child) == [.birthdate, .sharing])
    builder.happen(
      1, .account(child),
      .accountChanged(
        child,
        .account(
          Account(
            birthdate: Account.Day(iso: "2014-05-07"), region: "US", declaration: .guardianDeclared)
        )))
    #expect(builder.link(2).onboarding(of: child) == [.sharing])
    builder.happen(1, .account(child), .ageSet(child, .ageSettings(AgeSettings()), proof: []))
    #expect(builder.link(2).onboarding(of: child) == [])
    #expect(builder.link(2).onboarding(of: PersonID(9)) == [.birthdate, .sharing, .device])
  }

  @Test("A1, A5: an empty line leaves each dialog with a choice, and answers nothing")
  func leaving() {
    let question = ConversationBuilder.question(1)
    let prompts: [Prompt] = [
      .permission(ConversationBuilder.app, question),
      .alreadyAsked(ConversationBuilder.app, question, mayRemind: true),
      .compose(ConversationBuilder.app, question, to: []),
      .acknowledge(ConversationBuilder.app, question),
      .ageRange(ConversationBuilder.app, AgeRange(lower: 13, upper: 15, declaration: nil)),
    ]
    for prompt in prompts {
      #expect(prompt.dialog(received: renderer().now).leaving == .answer(.cancel), "\(prompt)")
    }
    // A name that is being typed may be empty.
    var compose = prompts[2].dialog(received: renderer().now)
    _ = compose.submit("3", renderer())
    #expect(compose.leaving == nil)
    let card = Card(ConversationBuilder.header(question), question)
    #expect(ReviewDialog(card: card, child: mia, titles: []).leaving == .nothing)
    #expect(WithdrawDialog(child: mia, known: []).leaving == .nothing)
  }

  @Test("A4: Approve in Person is offered only if the family has a passcode")
  func inPerson() {
    let prompt = Prompt.permission(ConversationBuilder.app, ConversationBuilder.question(1))
    var dialog = prompt.dialog(received: renderer().now, hasPasscode: false)
    #expect(dialog.opening(renderer()).whole.hasSuffix("[1] Ask by Message [2] Cancel"))
    #expect(dialog.submit("2", renderer()) == .done(.answer(.cancel)))
  }

  @Test("F9: the removal of the own device asks first")
  func ownDevice() {
    let roster = ConversationBuilder().link(1).roster
    var dialog = ConfirmDialog(warning: .removeOwn, result: .roster(roster))
    #expect(dialog.opening(renderer()).whole.hasSuffix("[1] Remove [2] Cancel"))
    #expect(dialog.submit("2", renderer()) == .done(.nothing))
    #expect(dialog.submit("1", renderer()) == .done(.roster(roster)))
    #expect(dialog.leaving == .nothing)
  }

  @Test("A1: prompts name the app as its manifest does")
  func appName() {
    let named = Renderer(
      Wording(.english), columns: 79, now: renderer().now,
      appNames: [ConversationBuilder.app: "Landmarks"])
    let opening = Prompt.permission(ConversationBuilder.app, ConversationBuilder.question(1))
      .dialog(received: named.now).opening(named).whole
    #expect(opening.contains("in Landmarks.") && !opening.contains("example.landmarks"))
  }

  @Test("F1, F9: a guardian's screen announces members and devices that join or leave")
  func announcements() {
    var builder = ConversationBuilder()
    let before = FamilySummary(builder.timeline(1, renderer()))
    var roster = builder.link(1).roster
    roster.persons.append(Person(id: PersonID(9), role: .guardian, displayName: "Nora"))
    roster.persons.removeAll { $0.displayName == "Noah" }
    roster.devices.removeAll { [DeviceID(2), DeviceID(4)].contains($0.id) }
    roster.devices.append(
      Device(id: DeviceID(7), person: PersonID(3), publicKey: Array(repeating: 7, count: 32)))
    builder.happen(1, .family, .rosterChanged(roster))
    let news = FamilySummary(builder.timeline(1, renderer())).changes(since: before, renderer())
      .whole
    for text in [
      "Nora is now in the family.", "Noah is no longer in the family.",
      "Alex’s device 2 is no longer in the family.", "Emily has a new device: 7.",
    ] { #expect(news.contains(text), "\(news)") }
    // A child's screen shows none of it.
    let child = FamilySummary(builder.timeline(3, renderer()))
    #expect(child.changes(since: child, renderer()).isEmpty)
  }
}
