import ArgumentParser
import FamilyCore
import FamilyModel

struct History: ExplainedCommand {
  static let configuration = CommandConfiguration(
    abstract: "Show the children's conversations, oldest line first.")
  @OptionGroup var guardian: GuardianOptions
  @OptionGroup var child: ChildOption
  @Option(help: "Show only this many of the newest lines.") var limit: Int?
  @OptionGroup var output: OutputOptions

  func validate() throws {
    if let limit, limit < 1 { throw ValidationError("--limit takes 1 or more, not '\(limit)'.") }
  }

  func perform() throws {
    let view = try guardian.view()
    let lines = try view.children(child.name).flatMap { child in
      view.conversation(child).lines.map { (child: child, line: $0) }
    }.sorted { $0.line.seq < $1.line.seq }
    var listing = Listing(
      columns: [
        .init(nil, "seq"), .init("when", "at"), .init("child"), .init(nil, "childID"),
        .init("by"), .init(nil, "device"), .init(nil, "kind"), .init("text"),
        .init(nil, "question"), .init(nil, "choice"),
      ])
    listing.rows = lines.suffix(limit ?? .max).map { child, line in
      let description = view.describe(line, in: view.conversation(child))
      return [
        .number(line.seq), .time(line.at), .text(child.displayName),
        .number(UInt64(child.id.rawValue)), .text(description.by ?? view.name(of: line.device)),
        .number(UInt64(line.device.rawValue)), .text(description.kind), .text(description.text),
        description.question.map { .text($0.text) } ?? .none,
        description.choice.map { .text($0) } ?? .none,
      ]
    }
    output.show(listing, empty: "The conversations are empty.")
  }
}

/// The description of a conversation's line.
struct LineDescription {
  var kind: String
  var text: String
  /// The author, if other than the device's owner.
  var by: String?
  var question: QuestionID?
  var choice: String?
}

extension FamilyView {
  func describe(_ line: Line, in conversation: Conversation) -> LineDescription {
    func about(_ id: QuestionID) -> String {
      conversation.questions[id].map(self.about) ?? id.text
    }
    func chosen(_ id: QuestionID, _ choice: ChoiceHeader) -> String {
      let state = conversation.questions[id]
      let end = state?.question?.choices.first { $0.id == choice.id }?.end
      let until = end.map { " until \($0.moment(decidedAt: line.at).local)" } ?? ""
      return "“\(title(choice.id, of: state))”\(until): \(about(id))"
    }
    switch line.body {
    case .text(let text): return LineDescription(kind: "text", text: text)
    case .question(let id):
      let text = conversation.questions[id].map(sentence) ?? ""
      return LineDescription(kind: "question", text: text, question: id)
    case .reminder(let id):
      return LineDescription(kind: "reminder", text: "reminder: \(about(id))", question: id)
    case .cancellation(let id):
      return LineDescription(kind: "cancellation", text: "cancelled: \(about(id))", question: id)
    case .decision(let id, let choice):
      return LineDescription(
        kind: "decision", text: "chose \(chosen(id, choice))", question: id, choice: choice.id)
    case .inPerson(let id, let choice):
      return LineDescription(
        kind: "inPerson", text: "chose \(chosen(id, choice)), on the child's device",
        by: "a guardian, with the passcode", question: id, choice: choice.id)
    case .withdrawal(.handle(let handle, let app)):
      let scope = app.map { " in \($0.rawValue)" } ?? ""
      return LineDescription(kind: "withdrawal", text: "withdrew: \(handle.value)\(scope)")
    case .withdrawal(.consent(let app)):
      return LineDescription(kind: "withdrawal", text: "withdrew consent for \(app.rawValue)")
    case .withdrawal(.consentGiven(let app)):
      return LineDescription(kind: "consent", text: "gave consent for \(app.rawValue) back")
    }
  }
}
