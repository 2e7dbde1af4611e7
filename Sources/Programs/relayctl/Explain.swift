import ArgumentParser
import FamilyCore
import FamilyModel
import SystemClock
import TextTable

struct Explain: ExplainedCommand {
  static let configuration = CommandConfiguration(
    commandName: "explain",
    abstract: "Explain why a handle is known or not, or what a problem's number means.",
    usage: """
      relayctl explain <handle> [--app <app>] [--kind <kind>] [--child <child>] --as <file>
      relayctl explain <number>
      relayctl explain all
      """,
    discussion: "The explanation of a handle names the rule that decides, the guardian and the "
      + "time, and known handles with a similar spelling. Whether the app has received the newest "
      + "change only the child's device knows: type `explain` there.")
  @Argument(help: "A phone number, e-mail address or user name, or the number of a problem.")
  var subject: String
  @Option(help: "The app (default: every app that asked about people).") var app: String?
  @Option(help: "The handle's kind (default: from its text).") var kind: KindArgument?
  @OptionGroup var child: ChildOption
  @Option(
    name: .customLong("as"),
    help: .init("A guardian's credential file, for a handle.", valueName: "file"))
  var file: String?
  @OptionGroup var output: OutputOptions

  /// Whether the subject is a problem's number. A short phone number needs `--as`.
  private var isNumber: Bool {
    file == nil && subject.count == 3 && subject.allSatisfy(\.isASCII) && Int(subject) != nil
  }

  /// Whether all problems are listed.
  private var isList: Bool { file == nil && subject == "all" }

  func validate() throws {
    guard file != nil || isNumber || isList else {
      throw ValidationError("To explain a handle, give --as and a guardian's credential file.")
    }
  }

  func perform() throws {
    if isNumber, let code = UInt16(subject) { return try explain(Problem(code: code)) }
    if isList {
      return print(Table.render(Problem.table.map { ["\($0.code)", $0.name] }))
    }
    var guardian = GuardianOptions()
    guardian.file = file!
    let view = try guardian.view()
    let handle = kind.map { Handle(subject, $0.kind) } ?? Handle(guessingKindOf: subject)
    let child = try view.child(child.name)
    let asked = Set(view.conversation(child).inOrder.map(\.header.app)).sorted()
    let apps = app.map { [AppID($0)] } ?? asked
    guard !apps.isEmpty else {
      throw ControlError("No app has asked anything yet. Name one with --app.")
    }
    let explanations = apps.map { app in
      view.link.explain(handle, of: child.id, in: app, now: .now)
    }
    guard output.json else {
      let texts = explanations.map { view.sentences($0).map(\.printable).joined(separator: "\n") }
      return print(texts.joined(separator: "\n\n"))
    }
    var listing = Listing(columns: Self.columns)
    listing.rows = explanations.map { view.cells($0, child) }
    print(listing.json)
  }

  private func explain(_ problem: Problem) throws {
    guard let entry = problem.entry else {
      throw ValidationError(
        "'\(problem.code)' is not the number of a problem. `relayctl explain all` lists them.")
    }
    print("problem \(entry.code): \(entry.name).\n\(entry.cause)\n\(entry.nextStep)")
  }

  private static let columns: [Listing.Column] = [
    .init("child"), .init("childID"), .init("handle"), .init("kind"), .init("app"),
    .init("known"), .init("rule"), .init("number"), .init("by"), .init("at"), .init("changes"),
    .init("conditions"), .init("similar"), .init("text"),
  ]
}

extension FamilyView {
  fileprivate func sentences(_ explanation: HandleExplanation) -> [String] {
    wording.sentences(explanation, name: name(of:), app: name(of:), time: \.local)
  }

  fileprivate func cells(_ explanation: HandleExplanation, _ child: Person) -> [Cell] {
    let decision = explanation.rule.decision
    return [
      .text(child.displayName), .number(UInt64(child.id.rawValue)),
      .text(explanation.handle.value), .text(KindArgument(explanation.handle.kind).rawValue),
      .text(explanation.app.rawValue), .flag(explanation.isKnown), .text(explanation.rule.name),
      explanation.request.map { .number($0) } ?? .none,
      decision.map { .text(name(of: $0.by)) } ?? .none, decision.map { .time($0.at) } ?? .none,
      explanation.nextChange.map { .time($0) } ?? .none,
      .list(explanation.conditions.map { .text($0.name) }),
      .list(explanation.nearMisses.map(similar)), .list(sentences(explanation).map { .text($0) }),
    ]
  }

  private func similar(_ miss: HandleExplanation.NearMiss) -> Cell {
    switch miss {
    case .otherApp(let app): .object(["app": .text(app.rawValue)])
    case .otherKind(let handle), .otherSpelling(let handle):
      .object([
        "handle": .text(handle.value), "kind": .text(KindArgument(handle.kind).rawValue),
      ])
    }
  }
}
