import ArgumentParser
import FamilyCore
import FamilyModel

struct History: ExplainedCommand {
  static let configuration = CommandConfiguration(
    abstract: "Show what was said in the children's conversations, oldest first.")
  @OptionGroup var guardian: GuardianOptions
  @OptionGroup var child: ChildOption
  @Option(help: "Only the newest lines, this many.") var limit: Int?
  @OptionGroup var output: OutputOptions

  func validate() throws {
    if let limit, limit < 1 { throw ValidationError("--limit is 1 or more.") }
  }

  func perform() throws {
    let view = try guardian.view()
    let lines = try view.children(child.name).flatMap { child in
      view.conversation(child).lines.map { (child: child, line: $0) }
    }.sorted { $0.line.seq < $1.line.seq }
    var listing = Listing(
      columns: [
        .init(nil, "seq"), .init("when", "at"), .init("child"), .init(nil, "childID"),
        .init("who", "by"), .init(nil, "device"), .init(nil, "kind"), .init("what", "text"),
        .init(nil, "question"), .init(nil, "choice"),
      ])
    listing.rows = lines.suffix(limit ?? .max).map { child, line in
      let what = view.what(line, in: view.conversation(child))
      return [
        .number(line.seq), .time(line.at), .text(child.displayName),
        .number(UInt64(child.id.rawValue)), .text(what.by ?? view.name(of: line.device)),
        .number(UInt64(line.device.rawValue)), .text(what.kind), .text(what.text),
        what.question.map { .text($0.text) } ?? .none, what.choice.map { .text($0) } ?? .none,
      ]
    }
    output.show(listing, empty: "Nothing was said yet.")
  }
}

/// What a line of a conversation says.
struct LineText {
  var kind: String
  var text: String
  /// Who, where it is not the owner of the device.
  var by: String?
  var question: QuestionID?
  var choice: String?
}

extension FamilyView {
  func what(_ line: Line, in conversation: Conversation) -> LineText {
    func about(_ id: QuestionID) -> String {
      conversation.questions[id].map(self.about) ?? id.text
    }
    func chosen(_ id: QuestionID, _ choice: ChoiceHeader) -> String {
      "“\(title(choice.id, of: conversation.questions[id]))”: \(about(id))"
    }
    switch line.body {
    case .text(let text): return LineText(kind: "text", text: text)
    case .question(let id):
      let text = conversation.questions[id].map(sentence) ?? ""
      return LineText(kind: "question", text: text, question: id)
    case .reminder(let id):
      return LineText(kind: "reminder", text: "reminder: \(about(id))", question: id)
    case .cancellation(let id):
      return LineText(kind: "cancellation", text: "took back: \(about(id))", question: id)
    case .decision(let id, let choice):
      return LineText(
        kind: "decision", text: "chose \(chosen(id, choice))", question: id, choice: choice.id)
    case .inPerson(let id, let choice):
      return LineText(
        kind: "inPerson", text: "chose \(chosen(id, choice)), on the child's device",
        by: "a guardian, with the passcode", question: id, choice: choice.id)
    case .withdrawal(.handle(let handle, let app)):
      let place = app.map { " in \($0.rawValue)" } ?? ""
      return LineText(kind: "withdrawal", text: "withdrew: \(handle.value)\(place)")
    case .withdrawal(.consent(let app)):
      return LineText(kind: "withdrawal", text: "withdrew the consent to \(app.rawValue)")
    }
  }
}
