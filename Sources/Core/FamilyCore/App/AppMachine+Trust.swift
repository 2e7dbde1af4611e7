import FamilyModel

extension AppMachine {
  /// Reports what was not believed: here, and to the device.
  func reject(_ problem: Problem) -> [Effect] {
    [.rejected(problem), .send(.rejected(problem))]
  }

  /// Refuses an entry that nobody has signed who may, or that says something else than what was signed.
  func verify(_ entry: AppEntry) throws(Problem) {
    guard let trust else { return }
    if case .response(let question, let choice) = entry.body, entry.evidence.isEmpty {
      return try verify(byDefault: question, choice)
    }
    var facts: [EvidenceVerifier.Fact] = []
    for evidence in entry.evidence { facts.append(try trust.verify(evidence, in: app)) }
    guard let first = facts.first else { throw .notSigned }
    switch (entry.body, first) {
    case (.response(let question, let choice), .decided(let id, let header, let items)):
      guard id == question.id, items == question.items, question.choices.contains(choice),
        header == ChoiceHeader(id: choice.id, answer: choice.answer)
      else { throw .contradiction }
    case (.consentWithdrawn, .consentWithdrawn): break
    case (.known, .decided), (.known, .handles), (.forgotten, .decided), (.forgotten, .handles):
      break
    default: throw .contradiction
    }
  }

  /// Nobody decides a default. One that permits something has to be of a question that was asked here, so
  /// that no device makes one up; and it makes nothing known (K1).
  private func verify(byDefault question: Question, _ choice: Choice) throws(Problem) {
    guard choice == question.defaultChoice else { throw .notSigned }
    guard choice.answer == .approval else { return }
    guard askedHere.contains(where: { $0.isSame(question) }) else { throw .notSigned }
  }

  /// What an entry says, once it is believed.
  mutating func applyVerified(_ entry: AppEntry) throws(Problem) -> [AppRecordChange] {
    guard trust != nil else { return applyUnverified(entry.body) }
    try verify(entry)
    switch entry.body {
    case .known(let handles), .forgotten(let handles):
      return try apply(entry.evidence, about: handles.map(\.canonical))
    case .response(let question, let choice):
      let handles = choice.answer == .approval ? question.topic.handles.map(\.canonical) : []
      // A default has no evidence, and makes nothing known.
      return try apply(entry.evidence, about: entry.evidence.isEmpty ? [] : handles)
    case .consentWithdrawn: return try apply(entry.evidence, about: [])
    }
  }

  /// Takes pieces of evidence about handles that a reset names later, if all are believed.
  mutating func applyVerified(_ evidence: [Evidence]) throws(Problem) -> [AppRecordChange] {
    guard let trust else { return [] }
    for piece in evidence { _ = try trust.verify(piece, in: app) }
    return try apply(evidence, about: [])
  }

  /// Takes pieces of evidence that were checked. Of two statements about one thing the later made counts,
  /// so one that comes again changes nothing.
  ///
  /// - Parameter handles: Whose standing it tells. An approval may be of others as well, and of those the app
  ///   was told all that is said when it is about them: it may have been taken back before.
  private mutating func apply(_ evidence: [Evidence], about handles: [Handle]) throws(Problem)
    -> [AppRecordChange]
  {
    guard var trust else { return [] }
    var records: [AppRecordChange] = []
    var said: Set<Handle> = []
    var isWithdrawn: Bool?
    for piece in evidence {
      let changes = trust.apply(piece, in: app)
      said.formUnion(changes.handles)
      records += changes.records
      isWithdrawn = changes.isConsentWithdrawn ?? isWithdrawn
    }
    // These nobody has signed anything about.
    guard handles.allSatisfy(said.contains) else { throw .contradiction }
    self.trust = trust
    for handle in handles where said.contains(handle) {
      records.append(setKnown(handle, trust.isKnown(handle, in: app)))
    }
    if let isWithdrawn { records.append(setConsent(isWithdrawn: isWithdrawn)) }
    return records
  }

  /// Remembers a question whose default permits something.
  mutating func rememberAsked(_ question: Question) -> [Effect] {
    guard trust != nil, question.defaultChoice.answer == .approval,
      !askedHere.contains(where: { $0.id == question.id })
    else { return [] }
    var changes: [AppRecordChange] = [.put(.asked(question))]
    askedHere.append(question)
    if askedHere.count > Limits.askedQuestions {
      changes.append(.remove(.asked(askedHere.removeFirst())))
    }
    return [.persist(changes)]
  }

  /// No response will come, or it was handled.
  mutating func forgetAsked(_ id: QuestionID) -> [Effect] {
    guard let index = askedHere.firstIndex(where: { $0.id == id }) else { return [] }
    return [.persist([.remove(.asked(askedHere.remove(at: index)))])]
  }
}

extension Question {
  /// Whether it is the same question, whatever names the child gave the people.
  fileprivate func isSame(_ other: Question) -> Bool {
    id == other.id && items == other.items && choices == other.choices
      && defaultChoice == other.defaultChoice
  }
}

extension AskOutcome {
  /// Whether a response may come after it.
  var mayHaveResponse: Bool {
    switch self {
    case .sent, .answeredByDefault, .answeredInPerson: true
    case .cancelled, .alreadyAsked, .acknowledged, .refused: false
    }
  }
}
