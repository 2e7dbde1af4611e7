import FamilyCore
import FamilyModel
import Foundation
import TextTable
import Wording

/// A family as a guardian's device sees it, with texts for its persons, devices and questions.
struct FamilyView {
  let machine: GuardianMachine
  let wording = Wording(.english)

  init(_ machine: GuardianMachine) { self.machine = machine }

  var link: DeviceLink { machine.link }
  var roster: Roster { link.roster }

  func conversation(_ child: Person) -> Conversation {
    link.conversations[child.id] ?? Conversation()
  }

  /// The child with this name or number; `nil` names the only child.
  ///
  /// - Throws: `ControlError` unless exactly one child matches.
  func child(_ text: String?) throws -> Person {
    let children = try children(text)
    guard children.count == 1 else {
      throw ControlError(
        "\(children.count) children match. Choose one with --child: \(Self.list(children)).")
    }
    return children[0]
  }

  /// The children with this name or number; `nil` matches all.
  ///
  /// - Throws: `ControlError` when no child matches.
  func children(_ text: String?) throws -> [Person] {
    let all = roster.children
    guard !all.isEmpty else {
      throw ControlError("The family has no children. `relayctl add-child` adds one.")
    }
    guard let text else { return all }
    let found = all.filter {
      $0.displayName.lowercased() == text.lowercased() || "\($0.id.rawValue)" == text
    }
    guard !found.isEmpty else {
      throw ControlError(
        "The family has no child '\(text)'. Its children: \(Self.list(all)).".printable)
    }
    return found
  }

  /// The names, with numbers if two children have the same name.
  private static func list(_ children: [Person]) -> String {
    let isClear = Set(children.map { $0.displayName.lowercased() }).count == children.count
    return children.map { isClear ? $0.displayName : "\($0.displayName) (\($0.id.rawValue))" }
      .joined(separator: ", ").printable
  }

  func name(of device: DeviceID) -> String {
    if device.rawValue == 0 { return "the administrator" }
    let owner = link.owner(of: device)
    return roster.person(owner)?.displayName ?? "a former member (\(owner.rawValue))"
  }

  /// The app with its name, as a child's device reported it; without one, the identifier.
  func name(of app: AppID) -> String { wording.app(app.rawValue, named: link.name(of: app)) }

  func name(of child: PersonID) -> String {
    roster.person(child)?.displayName ?? "a former member (\(child.rawValue))"
  }

  /// The whole question as a sentence.
  func sentence(_ state: QuestionState) -> String {
    guard let question = state.question else { return "a question that cannot be decrypted here" }
    return wording.question(
      child: name(of: state.header.child), app: name(of: state.header.app), topic: question.topic)
  }

  /// The people that a question is about, or the app's description of its update.
  func about(_ state: QuestionState) -> String {
    switch state.question?.topic {
    case .communication(let people, _): people.map(wording.person).joined(separator: ", ")
    case .significantUpdate(let description): "update: \(description)"
    case .browse(let site): site.name
    case .authorization: "authorization to manage the child"
    case nil: ""
    }
  }

  /// The choice's meaning with the app's title, or with its id if the question cannot be decrypted.
  func title(_ choice: ChoiceHeader, of state: QuestionState?) -> String {
    wording.choice(
      state?.question?.choices.first { $0.id == choice.id && $0.answer == choice.answer }
        ?? Choice(id: choice.id, title: choice.id, answer: choice.answer))
  }
}

extension QuestionID {
  /// The id as a UUID: `3F2504E0-4F89-41D3-9A0C-0305E82C3301`.
  var text: String { uuid.uuidString }
  /// The id's 32 hexadecimal digits; prefixes are compared with them.
  var digits: String { text.filter { $0 != "-" } }
}
