public import FamilyCore
import FamilyModel
import Foundation

/// Asks the person who sits before the terminal. One question at a time, in the order in which they came.
public actor TerminalResponder: Responder {
  private var last: Task<Void, Never>?

  /// A responder on standard input and standard error; standard output is the trace's.
  public init() {}

  public func answer(_ prompt: Prompt) async -> PromptAnswer {
    switch prompt {
    case .permission(let app, let question):
      let key = await choose(
        "\(app.rawValue) asks to talk to \(names(question)).",
        ["a": "ask by message", "p": "approve in person", "c": "cancel"])
      return key == "a" ? .askByMessage : key == "p" ? .inPerson : .cancel
    case .compose(_, let question, let guardians):
      let to = guardians.map(\.displayName).joined(separator: ", ")
      let key = await choose(
        "To \(to): may I talk to \(names(question))?", ["s": "send", "c": "cancel"])
      return key == "s" ? .send(names: []) : .cancel
    case .alreadyAsked(_, let question, let mayRemind):
      var keys = ["c": "leave it"]
      if mayRemind { keys["r"] = "remind" }
      let key = await choose("You asked already about \(names(question)).", keys)
      return key == "r" ? .remind : .cancel
    case .passcode, .acknowledge: return .cancel
    }
  }

  public func answer(_ bubble: Bubble) async -> BubbleAnswer? {
    let question = bubble.question
    var keys: [String: String] = [:]
    for (index, choice) in question.choices.enumerated() { keys["\(index + 1)"] = choice.title }
    keys["n"] = "not now"
    let key = await choose(
      "\(bubble.child.displayName) asks in \(bubble.app.rawValue): \(names(question))?", keys)
    guard let index = Int(key), question.choices.indices.contains(index - 1) else { return nil }
    return BubbleAnswer(choice: question.choices[index - 1].id, reviewed: true)
  }

  private func names(_ question: Question) -> String {
    guard case .communication(let people, _) = question.topic else { return "an update" }
    return people.map { person in
      person.name.map { "\($0.given) (\(person.handle.value))" } ?? person.handle.value
    }.joined(separator: ", ")
  }

  /// Shows the text and the keys until one of them is typed; the end of the input is a cancel.
  private func choose(_ text: String, _ keys: [String: String]) async -> String {
    let before = last
    let task = Task.detached { () -> String in
      await before?.value
      let menu = keys.sorted { $0.key < $1.key }.map { "[\($0.key)] \($0.value)" }
      while true {
        FileHandle.standardError.write(
          Data("\n\(text)\n  \(menu.joined(separator: "  "))\n> ".utf8))
        guard let line = readLine() else { return "c" }
        let key = line.trimmingCharacters(in: .whitespaces).lowercased()
        if keys[key] != nil { return key }
      }
    }
    last = Task { _ = await task.value }
    return await task.value
  }
}
