import ArgumentParser
import FamilyCore
import FamilyModel

struct History: ExplainedCommand {
  static let configuration = CommandConfiguration(
    abstract: "Show the conversations and all changes of the family, oldest line first.")
  @OptionGroup var guardian: GuardianOptions
  @OptionGroup var child: ChildOption
  @Option(help: "Show only this many of the newest lines.") var limit: Int?
  @OptionGroup var output: OutputOptions

  func validate() throws {
    if let limit, limit < 1 { throw ValidationError("--limit takes 1 or more, not '\(limit)'.") }
  }

  func perform() throws {
    let view = try guardian.view()
    let children = try view.children(child.name)
    let lines = children.flatMap { child in
      view.conversation(child).lines.map { line in
        SettingsChange(
          seq: line.seq, at: line.at, device: line.device, child: child.id,
          description: view.describe(line, in: view.conversation(child)))
      }
    }
    // A change of the family, or of another member, belongs to the history of no single child.
    let changes = view.settingsChanges.filter { change in
      child.name == nil || children.contains { $0.id == change.child }
    }
    let history = (lines + changes).sorted { $0.seq < $1.seq }
    var listing = Listing(
      columns: [
        .init(nil, "seq"), .init("when", "at"), .init("child"), .init(nil, "childID"),
        .init("number"), .init("by"), .init(nil, "device"), .init(nil, "kind"), .init("text"),
        .init(nil, "question"), .init(nil, "choice"),
      ])
    listing.rows = history.suffix(limit ?? .max).map { line in
      let description = line.description
      return [
        .number(line.seq), .time(line.at),
        line.child.map { .text(view.name(of: $0)) } ?? .none,
        line.child.map { .number(UInt64($0.rawValue)) } ?? .none,
        description.question.flatMap(view.state).map { .number($0.seq) } ?? .none,
        .text(description.by ?? view.name(of: line.device)),
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
      return "“\(title(choice, of: state))”\(until): \(about(id))"
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
      let scope = app.map { " in \(name(of: $0))" } ?? ""
      return LineDescription(kind: "withdrawal", text: "withdrew: \(handle.value)\(scope)")
    case .withdrawal(.consent(let app)):
      return LineDescription(kind: "withdrawal", text: "withdrew consent for \(name(of: app))")
    case .withdrawal(.consentGiven(let app)):
      return LineDescription(kind: "consent", text: "gave consent for \(name(of: app)) back")
    case .newer:
      return LineDescription(kind: "newer", text: "a kind that this version does not know")
    }
  }
}
