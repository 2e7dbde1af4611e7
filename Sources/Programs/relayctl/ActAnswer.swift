import ArgumentParser
import FamilyCore
import FamilyModel
import SystemClock
import TextTable

struct AnswerQuestion: ExplainedCommand {
  static let configuration = CommandConfiguration(
    commandName: "answer", abstract: "Answer a child's question.")
  @Argument(help: "The question's number in `relayctl pending`, or its id or a prefix of the id.")
  var question: String
  @Argument(help: "The id of a choice, for example approve or decline.")
  var choice: String
  @OptionGroup var guardian: GuardianOptions

  func perform() throws {
    var relay = try guardian.connect()
    let view = FamilyView(try relay.machine())
    let state = try view.question(question)
    try view.requireOpen(state)
    guard let chosen = state.header.choices.first(where: { $0.id == choice }) else {
      let ids = state.header.choices.map(\.id)
      throw ControlError(
        "The question has no choice '\(choice)'. Its choices: \(ids.joined(separator: ", "))."
          .printable)
    }
    try relay.send(.answer(state.header.id, choice: choice))
    let title = view.title(chosen, of: state)
    print("Answered #\(state.seq) with “\(title)”: \(view.sentence(state))".printable)
  }
}

extension FamilyView {
  /// Checks that the question is open.
  ///
  /// - Throws: `ControlError` with the earlier decision, which the relay's refusal lacks.
  fileprivate func requireOpen(_ state: QuestionState) throws {
    switch state.phase {
    case .open:
      guard let end = state.header.expiration, !state.isOpen(.now) else { return }
      throw ControlError(.expired, "The question expired at \(end.local).")
    case .cancelled:
      let child = name(of: state.header.child)
      throw ControlError(.cancelled, "\(child) cancelled the question.")
    case .answered(let choice, let device, let at):
      let title = title(choice, of: state)
      throw ControlError(
        .alreadyAnswered, "\(name(of: device)) chose “\(title)” at \(at.local).")
    }
  }
}

struct Post: ExplainedCommand {
  static let configuration = CommandConfiguration(
    abstract: "Post a message in a child's conversation.")
  @OptionGroup var child: ChildOption
  @Argument(help: "The message's text.") var text: String
  @OptionGroup var guardian: GuardianOptions

  func perform() throws {
    guard 1...Limits.textBytes ~= text.utf8.count else {
      throw ControlError(
        .badText, "A message has 1 to \(Limits.textBytes) bytes, not \(text.utf8.count).")
    }
    var relay = try guardian.connect()
    let child = try FamilyView(try relay.machine()).child(child.name)
    try relay.send(.post(child: child.id, .text(text)))
    print("Posted the message in \(child.displayName)'s conversation.".printable)
  }
}
