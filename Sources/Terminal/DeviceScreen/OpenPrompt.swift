package import FamilyCore
package import FamilyModel
import TerminalUI
import Wording

/// A prompt without an answer.
package struct OpenPrompt: Sendable {
  package let id: UInt64
  package let prompt: Prompt
  /// The name of the app's window that asked; empty: none given.
  package let window: String
  package let received: Instant

  /// The moment before which the device accepts no passcode; `nil` without a passcode.
  package var waitUntil: Instant? {
    switch prompt {
    case .passcode(_, _, let wait, _), .ageSettings(_, let wait, _): received + wait
    default: nil
    }
  }

  /// The answer of a person who pressed a button; `nil` if the dialog has no such button.
  ///
  /// - Parameters:
  ///   - names: The typed names, in the order of the question's people.
  ///   - passcode: The typed passcode.
  func answer(_ choice: String, names: [String] = [], passcode: String? = nil) -> PromptAnswer? {
    let passcode = passcode.flatMap { $0.isEmpty ? nil : $0 }
    switch (prompt, choice) {
    // An app may use any text as the id of a choice, also the one of the button that cancels.
    case (.passcode(_, let question, _, _), _)
    where passcode != nil && question.choices.contains { $0.id == choice }:
      return .passcode(passcode!, choice: choice)
    case (.ageSettings, "confirm"): return passcode.map { .passcode($0, choice: nil) }
    case (_, "cancel"): return .cancel
    case (.permission, "askByMessage"): return .askByMessage
    case (.permission, "approveInPerson"): return .inPerson
    case (.compose(_, let question, _), "send"):
      let names = names.prefix(question.topic.handles.count).map(NameParts.init(typed:))
      return .send(names: Array(names))
    case (.alreadyAsked(_, _, true), "remind"): return .remind
    case (.acknowledge, "acknowledge"): return .acknowledge
    case (.ageRange, "share"): return .share
    case (.ageRange, "dontShare"): return .dontShare
    default: return nil
    }
  }
}
