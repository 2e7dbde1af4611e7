package import FamilyCore
package import FamilyModel
import Wording

extension Renderer {
  /// A child's communication limits, birthdate, known handles and open questions.
  func overview(_ timeline: Timeline, of child: Person, numbers: [QuestionID: UInt64]) -> [Row] {
    let conversation = timeline.link.conversations[child.id] ?? Conversation()
    let name = child.displayName
    var rows = [rule(name)]
    rows += text(wording(conversation.limitsOn ? .limitsOn : .limitsOff, name))
    if let day = timeline.link.accounts[child.id]?.birthdate {
      rows += text(wording(.birthdateSet, name, day.iso))
    }
    if timeline.link.person?.role.isGuardian ?? false,
      !timeline.link.onboarding(of: child.id).isEmpty
    {
      rows += text(wording(.onboardLeft, name, "onboard \(name)"), .faint)
    }
    if let sandbox = timeline.link.age(of: child.id).settings.sandbox {
      rows += text(wording(.ageSandbox, sandbox.rawValue), .bad)
    }
    let known = KnownHandle.all(in: conversation, at: now)
    rows +=
      known.isEmpty
      ? text(wording(.noKnownContacts), .faint) : text(wording(.knownContacts), .bold)
    rows += known.flatMap { hanging("• ", $0.text(self)) }
    let open = timeline.openCards(of: child.id)
    rows +=
      open.isEmpty
      ? text(wording(.noOpenQuestions), .faint) : text(wording(.openQuestions), .bold)
    for card in open {
      let mark = Row("#\(numbers[card.header.id] ?? 0) ", .key)
      let sentence = card.question.map { question in
        wording.question(child: name, app: self.name(of: card.header.app), topic: question.topic)
      }
      rows += hanging(mark, sentence ?? "?")
    }
    return rows
  }

  /// The list of commands. The commands are English words in every language.
  func help(_ lines: [(usage: String, effect: Phrase)]) -> [Row] {
    lines.flatMap { line -> [Row] in
      let effect = wording(line.effect)
      let usage = Row(line.usage, .key)
      let column = columns >= 70 ? 33 : 15
      return usage.cells < column
        ? hanging(usage.padded(column), effect)
        : text(line.usage, .key) + hanging(Row("").padded(min(column, 15)), effect)
    }
  }
}

/// A child's known handle and its scope: a custom name is known only in the app of its approval.
package struct KnownHandle: Hashable {
  package var handle: Handle
  package var app: AppID?
  /// The end of the approval; `nil`: no end.
  package var until: Instant?

  /// The name that a guardian gave the contact.
  var name: String?

  package func text(_ renderer: Renderer) -> String {
    let named = name.map { "\($0) · \(handle.value)" } ?? handle.value
    let scope = app.map { "\(named) (\(renderer.name(of: $0)))" } ?? named
    return until.map { "\(scope) · \(renderer.wording(.until, renderer.time($0)))" } ?? scope
  }
  package var withdrawal: Withdrawal { .handle(handle, in: app) }

  package static func all(in conversation: Conversation, at now: Instant) -> [KnownHandle] {
    let known = conversation.known.judged(at: now)
    func handle(_ handle: Handle, in app: AppID?) -> KnownHandle {
      KnownHandle(
        handle: handle, app: app, until: known.end(of: handle, in: app ?? AppID("")),
        name: conversation.name(of: handle))
    }
    // No app has an empty identifier, so handles that are known in it are known in every app.
    let everywhere = known.all(in: AppID(""))
    let apps = Set(conversation.inOrder.map(\.header.app)).sorted()
    return everywhere.map { handle($0, in: nil) }
      + apps.flatMap { app in
        known.all(in: app).filter { !everywhere.contains($0) }.map { handle($0, in: app) }
      }
  }
}
