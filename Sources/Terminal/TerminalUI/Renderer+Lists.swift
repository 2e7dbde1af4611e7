import FamilyCore
import FamilyModel
import Wording

extension Renderer {
  /// A child's communication limits, birthdate, known handles and open questions.
  func overview(_ timeline: Timeline, of child: Person, numbers: [QuestionID: Int]) -> [Row] {
    let conversation = timeline.link.conversations[child.id] ?? Conversation()
    let name = child.displayName
    var rows = [rule(name)]
    rows += text(wording(conversation.limitsOn ? .limitsOn : .limitsOff, name))
    if let day = timeline.link.accounts[child.id]?.birthdate {
      rows += text(wording(.birthdateSet, name, day.iso))
    }
    if let sandbox = timeline.link.age(of: child.id).settings.sandbox {
      rows += text(wording(.ageSandbox, sandbox.rawValue), .bad)
    }
    let known = KnownHandle.all(in: conversation)
    rows +=
      known.isEmpty
      ? text(wording(.noKnownContacts), .faint) : text(wording(.knownContacts), .bold)
    rows += known.flatMap { hanging("• ", $0.text) }
    let open = timeline.openCards(of: child.id)
    rows +=
      open.isEmpty
      ? text(wording(.noOpenQuestions), .faint) : text(wording(.openQuestions), .bold)
    for card in open {
      let mark = Row("#\(numbers[card.header.id] ?? 0) ", .key)
      let sentence = card.question.map { question in
        wording.question(child: name, app: card.header.app.rawValue, topic: question.topic)
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
struct KnownHandle: Hashable {
  var handle: Handle
  var app: AppID?

  /// The name that a guardian gave the contact.
  var name: String?

  var text: String {
    let named = name.map { "\($0) · \(handle.value)" } ?? handle.value
    return app.map { "\(named) (\($0.rawValue))" } ?? named
  }
  var withdrawal: Withdrawal { .handle(handle, in: app) }

  static func all(in conversation: Conversation) -> [KnownHandle] {
    // No app has an empty identifier, so handles that are known in it are known in every app.
    let everywhere = conversation.known.all(in: AppID(""))
    let apps = Set(conversation.inOrder.map(\.header.app)).sorted()
    return everywhere.map { KnownHandle(handle: $0, name: conversation.name(of: $0)) }
      + apps.flatMap { app in
        conversation.known.all(in: app).filter { !everywhere.contains($0) }
          .map { KnownHandle(handle: $0, app: app, name: conversation.name(of: $0)) }
      }
  }
}
