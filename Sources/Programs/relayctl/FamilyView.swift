import FamilyCore
import FamilyModel
import Foundation
import TextTable
import Wording

/// A family as a guardian's device sees it, with the words for what is in it.
struct FamilyView {
  let machine: GuardianMachine
  let wording = Wording(.english)

  init(_ machine: GuardianMachine) { self.machine = machine }

  var link: DeviceLink { machine.link }
  var roster: Roster { link.roster }

  func conversation(_ child: Person) -> Conversation {
    link.conversations[child.id] ?? Conversation()
  }

  /// The child of this name or number; the only one where none is given.
  func child(_ text: String?) throws -> Person {
    let children = try children(text)
    guard children.count == 1 else {
      throw ControlError("Which child? --child takes one of: \(Self.list(children)).")
    }
    return children[0]
  }

  /// The children of this name, or with this number; all, where none is given.
  func children(_ text: String?) throws -> [Person] {
    let all = roster.children
    guard !all.isEmpty else {
      throw ControlError("There is no child in this family: `relayctl add-child` makes one.")
    }
    guard let text else { return all }
    let found = all.filter {
      $0.displayName.lowercased() == text.lowercased() || "\($0.id.rawValue)" == text
    }
    guard !found.isEmpty else {
      throw ControlError("There is no child \(text). The children: \(Self.list(all)).")
    }
    return found
  }

  /// The names; with numbers where names alone would not tell them apart.
  private static func list(_ children: [Person]) -> String {
    let isClear = Set(children.map { $0.displayName.lowercased() }).count == children.count
    return children.map { isClear ? $0.displayName : "\($0.displayName) (\($0.id.rawValue))" }
      .joined(separator: ", ").printable
  }

  func name(of device: DeviceID) -> String {
    if device.rawValue == 0 { return "the administrator" }
    let owner = link.owner(of: device)
    return roster.person(owner)?.displayName ?? "somebody who left (\(owner.rawValue))"
  }

  func name(of child: PersonID) -> String {
    roster.person(child)?.displayName ?? "somebody who left (\(child.rawValue))"
  }

  /// The whole question as a sentence.
  func sentence(_ state: QuestionState) -> String {
    guard let question = state.question else { return "a question that cannot be read here" }
    return wording.question(
      child: name(of: state.header.child), app: state.header.app.rawValue, topic: question.topic)
  }

  /// Whom a question is about, or what the app says of its update.
  func about(_ state: QuestionState) -> String {
    switch state.question?.topic {
    case .communication(let people, _): people.map(wording.person).joined(separator: ", ")
    case .significantUpdate(let description): "update: \(description)"
    case nil: ""
    }
  }

  func title(_ choice: String, of state: QuestionState?) -> String {
    state?.question?.choices.first { $0.id == choice }?.title ?? choice
  }
}

extension QuestionID {
  /// As it is written: `3F2504E0-4F89-41D3-9A0C-0305E82C3301`.
  var text: String { uuid.uuidString }
  /// What an id, or its beginning, is compared by.
  var digits: String { text.filter { $0 != "-" } }
}
