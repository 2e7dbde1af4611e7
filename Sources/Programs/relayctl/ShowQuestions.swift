import ArgumentParser
import FamilyCore
import FamilyModel
import SystemClock

struct Pending: ExplainedCommand {
  static let configuration = CommandConfiguration(
    abstract: "List the open questions of all children.")
  @OptionGroup var guardian: GuardianOptions
  @OptionGroup var output: OutputOptions

  func perform() throws {
    let view = try guardian.view()
    var listing = Listing(
      columns: [
        .init("number"), .init(nil, "question"), .init("child"), .init(nil, "childID"),
        .init("app"), .init("about"),
        .init(nil, "people"), .init(nil, "text"), .init("choices"), .init("asked"),
        .init("expires"),
      ])
    listing.rows = view.open(.now).map { state, asked in
      [
        .number(state.seq), .text(state.header.id.text),
        .text(view.name(of: state.header.child)), .number(UInt64(state.header.child.rawValue)),
        view.cell(state.header.app), .text(view.about(state)), view.people(state),
        .text(view.sentence(state)), view.choices(state), .time(asked),
        state.header.expiration.map { .time($0) } ?? .none,
      ]
    }
    output.show(listing, empty: "No question is open.")
  }
}

extension FamilyView {
  /// The open questions and the times when they were asked, oldest first.
  func open(_ now: Instant) -> [(state: QuestionState, asked: Instant)] {
    roster.children.flatMap { child in
      let conversation = conversation(child)
      return conversation.questions.unanswered.filter { $0.isOpen(now) }.map { state in
        (state, conversation.lines.line(of: state.seq)?.at ?? state.lastAsked)
      }
    }.sorted { $0.0.seq < $1.0.seq }
  }

  private var questions: [QuestionState] {
    roster.children.flatMap { conversation($0).inOrder }
  }

  /// The question with this id; `nil` for an unknown one.
  func state(_ id: QuestionID) -> QuestionState? { questions.first { $0.header.id == id } }

  /// The question with this number, or whose id has this prefix. Open questions take precedence over
  /// closed ones, and a number over a prefix.
  ///
  /// - Throws: `ControlError` unless exactly one question matches.
  func question(_ text: String) throws -> QuestionState {
    let number = UInt64(text.hasPrefix("#") ? text.dropFirst() : text[...])
    if let state = questions.first(where: { $0.seq == number }) { return state }
    let digits = text.uppercased().filter { $0 != "-" }
    let open = open(.now).map(\.state)
    func matching(_ states: [QuestionState]) -> [QuestionState] {
      digits.isEmpty ? [] : states.filter { $0.header.id.digits.hasPrefix(digits) }
    }
    let found = [matching(open), matching(questions)].first { !$0.isEmpty } ?? []
    if found.count == 1 { return found[0] }
    let numbers = (found.isEmpty ? open : found).map { "\($0.seq)" }.joined(separator: ", ")
    guard found.isEmpty else {
      throw ControlError(
        "Several questions begin with '\(text)'. Give a number instead: \(numbers).")
    }
    throw ControlError(
      "No question has the number '\(text)'. "
        + (numbers.isEmpty ? "No question is open." : "Open questions: \(numbers)."))
  }

  func people(_ state: QuestionState) -> Cell {
    switch state.question?.topic {
    case .communication(let people, _):
      .list(
        people.map { person in
          .object([
            "handle": .text(person.handle.value),
            "kind": .text(KindArgument(person.handle.kind).rawValue),
            "name": person.name.map { .text(wording.name($0)) } ?? .none,
          ])
        })
    case .significantUpdate, .browse, .authorization, nil: .list([])
    }
  }

  func choices(_ state: QuestionState) -> Cell {
    .list(
      state.header.choices.map { choice in
        let meaning = title(choice, of: state)
        let offered = state.question?.choices.first { $0.id == choice.id }
        let title = offered?.title ?? choice.id
        let end = offered?.end
        let isClear = meaning.lowercased() == choice.id.lowercased()
        return .shown(
          isClear ? choice.id : "\(choice.id) (\(meaning))",
          .object([
            "id": .text(choice.id), "title": .text(title), "answer": .text("\(choice.answer)"),
            "until": end.map { .time($0.moment(decidedAt: .now)) } ?? .none,
          ]))
      })
  }
}
