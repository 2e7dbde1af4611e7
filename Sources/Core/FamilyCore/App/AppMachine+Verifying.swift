import FamilyModel

extension AppMachine {
  /// Reports a rejected message to the app's code and to the device.
  func reject(_ problem: Problem) -> [Effect] {
    [.rejected(problem), .send(.rejected(problem))]
  }

  /// Verifies and stores a roster. With the last roster that the app lacked, the app attaches again,
  /// to receive what it ignored.
  mutating func append(_ proof: RosterProof) -> [Effect] {
    guard verifier != nil else { return [] }
    do throws(Problem) {
      let record = try verifier!.rosters.append(proof)
      guard isWaitingForRosters, verifier!.rosters.isComplete else {
        return record.map { [.persist([.put($0)])] } ?? []
      }
      isWaitingForRosters = false
      return attachAgain()
    } catch { return reject(error) }
  }

  /// Ignores a message, and reports once for each attachment that the device shows another history
  /// than before. A device that reads its family's log again shows the rosters later.
  mutating func waitForRosters() -> [Effect] {
    guard !isWaitingForRosters else { return [] }
    isWaitingForRosters = true
    return reject(.forked)
  }

  /// Verifies that an authorised guardian signed the entry, and that the entry repeats the signed
  /// facts.
  ///
  /// - Throws: `notSigned` or `contradiction`, or the problem of a piece of evidence.
  func verify(_ entry: AppEntry) throws(Problem) {
    guard let verifier else { return }
    if case .response(let question, let choice) = entry.body, entry.evidence.isEmpty {
      return try verify(byDefault: question, choice)
    }
    // The device's own report, which no guardian signs.
    if case .activity = entry.body, entry.evidence.isEmpty { return }
    var facts: [EvidenceVerifier.Fact] = []
    for evidence in entry.evidence { facts.append(try verifier.verify(evidence, in: app)) }
    guard let first = facts.first else { throw .notSigned }
    switch (entry.body, first) {
    case (.response(let question, let choice), .decided(let id, let header, let items)):
      guard id == question.id, items == question.items, question.choices.contains(choice),
        header == ChoiceHeader(id: choice.id, answer: choice.answer)
      else { throw .contradiction }
    case (.consentWithdrawn, .consent(isWithdrawn: true)): break
    case (.consentGiven, .consent(isWithdrawn: false)): break
    case (.consentGiven, .decided(_, let header, let items))
    where header.answer == .approval && items.contains(where: \.isUpdate):
      break
    case (.known, .decided), (.known, .handles), (.forgotten, .decided), (.forgotten, .handles):
      break
    default: throw .contradiction
    }
  }

  /// Verifies a default choice, which has no signature. An approving default must belong to a
  /// question that this app asked, so that a device cannot invent one. No default approves an
  /// update. A default makes no handle known.
  private func verify(byDefault question: Question, _ choice: Choice) throws(Problem) {
    guard choice == question.defaultChoice else { throw .notSigned }
    guard choice.answer == .approval else { return }
    guard question.topic.kind.allowsApprovingDefault,
      askedHere.contains(where: { $0.isSame(question) })
    else { throw .notSigned }
  }

  /// Verifies and applies an entry.
  mutating func applyVerified(_ entry: AppEntry) throws(Problem) -> [AppRecordChange] {
    guard verifier != nil else { return applyUnverified(entry.body) }
    try verify(entry)
    switch entry.body {
    case .known(let handles):
      return try apply(entry.evidence, about: handles.map(\.canonical))
    case .forgotten(let handles):
      return try apply(entry.evidence, about: handles.map(\.canonical), areForgotten: true)
    case .response(let question, let choice):
      let handles = choice.answer == .approval ? question.topic.handles.map(\.canonical) : []
      // A default has no evidence and makes no handle known.
      return try apply(entry.evidence, about: entry.evidence.isEmpty ? [] : handles)
    case .consentWithdrawn, .consentGiven: return try apply(entry.evidence, about: [])
    case .activity: return []
    }
  }

  /// Verifies and applies evidence about handles that a later reset names. One invalid piece
  /// rejects all.
  mutating func applyVerified(_ evidence: [Evidence]) throws(Problem) -> [AppRecordChange] {
    guard let verifier else { return [] }
    for piece in evidence { _ = try verifier.verify(piece, in: app) }
    return try apply(evidence, about: [])
  }

  /// Applies verified evidence. A statement that a known one replaces, or a repeated one, changes
  /// nothing.
  ///
  /// - Parameter handles: The handles whose state changes. An approval may cover other handles too;
  ///   their state is left alone, because a withdrawal may have preceded this evidence.
  /// - Parameter areForgotten: Whether the device states that the handles are no longer known. An
  ///   approval with an end has then ended, by the device's latest time.
  /// - Throws: `contradiction` if a handle has no evidence.
  private mutating func apply(
    _ evidence: [Evidence], about handles: [Handle], areForgotten: Bool = false
  ) throws(Problem) -> [AppRecordChange] {
    guard var verifier else { return [] }
    var records: [AppRecordChange] = []
    var covered: Set<Handle> = []
    var isWithdrawn: Bool?
    for piece in evidence {
      let changes = verifier.apply(piece, in: app)
      covered.formUnion(changes.handles)
      records += changes.records
      isWithdrawn = changes.isConsentWithdrawn ?? isWithdrawn
    }
    // The remaining handles have no signed statement.
    guard handles.allSatisfy(covered.contains) else { throw .contradiction }
    if areForgotten, let end = handles.compactMap({ verifier.end(of: $0, in: app) }).max() {
      verifier.advance(to: end)
      records.append(.put(.latestTime(verifier.latest)))
    }
    self.verifier = verifier
    for handle in handles where covered.contains(handle) {
      records.append(setKnown(handle, verifier.isKnown(handle, in: app)))
    }
    if let isWithdrawn { records.append(setConsent(isWithdrawn: isWithdrawn)) }
    return records
  }

  /// Applies an entry of a device without security.
  mutating func applyUnverified(_ body: AppEntry.Body) -> [AppRecordChange] {
    switch body {
    case .response(_, let choice) where choice.answer == .denial: return []
    case .response(let question, _):
      guard question.topic.kind == .significantUpdate else {
        return remember(question.topic.handles.map(\.canonical))
      }
      return [setConsent(isWithdrawn: false)]
    case .known(let handles): return remember(handles)
    case .consentWithdrawn: return [setConsent(isWithdrawn: true)]
    case .consentGiven: return [setConsent(isWithdrawn: false)]
    case .activity: return []
    case .forgotten(let handles):
      for handle in handles { known.remove(handle) }
      return handles.map { .remove(.known($0)) }
    }
  }

  mutating func setConsent(isWithdrawn: Bool) -> AppRecordChange {
    isConsentWithdrawn = isWithdrawn
    return isWithdrawn ? .put(.consentWithdrawn) : .remove(.consentWithdrawn)
  }

  mutating func setKnown(_ handle: Handle, _ isKnown: Bool) -> AppRecordChange {
    guard isKnown else {
      known.remove(handle)
      return .remove(.known(handle))
    }
    known.insert(handle)
    return .put(.known(handle))
  }

  private mutating func remember(_ handles: [Handle]) -> [AppRecordChange] {
    for handle in handles { known.insert(handle) }
    return handles.map { .put(.known($0)) }
  }

  /// Remembers a question whose default choice approves.
  mutating func rememberAsked(_ question: Question) -> [Effect] {
    guard verifier != nil, question.defaultChoice.answer == .approval,
      !askedHere.contains(where: { $0.id == question.id })
    else { return [] }
    var changes: [AppRecordChange] = [.put(.asked(question))]
    askedHere.append(question)
    if askedHere.count > Limits.askedQuestions {
      changes.append(.remove(.asked(askedHere.removeFirst())))
    }
    return [.persist(changes)]
  }

  /// Forgets a question that has no response to expect.
  mutating func forgetAsked(_ id: QuestionID) -> [Effect] {
    guard let index = askedHere.firstIndex(where: { $0.id == id }) else { return [] }
    return [.persist([.remove(.asked(askedHere.remove(at: index)))])]
  }
}

extension Question {
  /// Whether both are the same question, ignoring the names that the child gave the people.
  fileprivate func isSame(_ other: Question) -> Bool {
    id == other.id && items == other.items && choices == other.choices
      && defaultChoice == other.defaultChoice
  }
}

extension AskOutcome {
  /// Whether a response may follow the outcome.
  var mayHaveResponse: Bool {
    switch self {
    case .sent, .answeredByDefault, .answeredInPerson: true
    case .cancelled, .alreadyAsked, .acknowledged, .refused: false
    }
  }
}
