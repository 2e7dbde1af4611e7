package import FamilyModel

// The content of each command and event, and the kind of content that each accepts.

extension Content {
  /// The digest that a proof of the passcode covers; empty for a content that is not sealed, in a
  /// family without keys.
  func proofDigest(_ digest: ([UInt8]) -> [UInt8]) -> [UInt8] {
    switch self {
    case .sealed(let bytes): digest(bytes)
    case .erased(let digest): digest
    default: []
    }
  }

  /// The digest that a signature covers. An erased content has nothing else.
  func signedDigest(_ digest: ([UInt8]) -> [UInt8], _ bytes: (Content) -> [UInt8]) -> [UInt8] {
    if case .erased(let digest) = self { digest } else { digest(bytes(self)) }
  }
}

extension Command {
  /// The content; `nil` for commands without one.
  package var content: Content? {
    switch self {
    case .setAccount(_, let content), .ask(_, let content), .post(_, let content),
      .changeContact(_, let content), .answerInPerson(_, let content, _, _),
      .withdraw(_, let content), .noteAge(_, let content), .setAge(_, let content, _),
      .changeSettings(_, let content, _):
      content
    case .setRoster, .setLimits, .remind, .cancel, .answer, .setPasscode, .addChild, .invite,
      .shareKeys, .complain, .beat, .opaque:
      nil
    }
  }

  /// Whether a part of the command depends on the command's id: the proof of the passcode.
  var dependsOnID: Bool {
    switch self {
    case .setAge(_, _, let proof), .changeSettings(_, _, let proof): !proof.isEmpty
    case .answerInPerson: true
    default: false
    }
  }

  /// The command with another content. A question also gets this digest of its subjects.
  package func replacing(_ content: Content, subjects: [UInt8]) -> Command {
    switch self {
    case .setAccount(let person, _): return .setAccount(person, content)
    case .ask(var header, _):
      header.subjects = subjects
      return .ask(header, content)
    case .post(let child, _): return .post(child: child, content)
    case .changeContact(let child, _): return .changeContact(child: child, content)
    case .answerInPerson(var header, _, let choice, let proof):
      header.subjects = subjects
      return .answerInPerson(header, content, choice: choice, proof: proof)
    case .withdraw(let child, _): return .withdraw(child: child, content)
    case .noteAge(let person, _): return .noteAge(person, content)
    case .setAge(let person, _, let proof): return .setAge(person, content, proof: proof)
    case .changeSettings(let person, _, let proof):
      return .changeSettings(person, content, proof: proof)
    case .setRoster, .setLimits, .remind, .cancel, .answer, .setPasscode, .addChild, .invite,
      .shareKeys, .complain, .beat, .opaque:
      return self
    }
  }

  /// The event body and audience that the command produces; `nil` if the question or choice is
  /// unknown.
  package func outcome(question: (QuestionID) -> QuestionHeader?) -> (
    audience: Audience, Event.Body
  )? {
    switch self {
    case .setRoster(let roster): return (.family, .rosterChanged(roster))
    case .setPasscode(let passcode): return (.family, .passcodeChanged(passcode))
    case .setAccount(let person, let content):
      return (.account(person), .accountChanged(person, content))
    case .setLimits(let child, let on):
      return (.conversation(child), .limitsChanged(child: child, on: on))
    case .ask(let header, let content):
      return (.conversation(header.child), .asked(header, content))
    case .post(let child, let content):
      return (.conversation(child), .posted(child: child, content))
    case .changeContact(let child, let content):
      return (.conversation(child), .contactChanged(child: child, content))
    case .withdraw(let child, let content):
      return (.conversation(child), .withdrawn(child: child, content))
    case .invite(let invitation): return (.family, .invited(invitation))
    case .noteAge(let person, let content): return (.account(person), .ageNoted(person, content))
    case .setAge(let person, let content, let proof):
      return (.account(person), .ageSet(person, content, proof: proof))
    case .changeSettings(let person, let content, let proof):
      return (.account(person), .settingsChanged(person, content, proof: proof))
    case .shareKeys(let audience, let wraps): return (audience, .keysShared(wraps))
    case .complain(let audience, let keys): return (audience, .complained(keys))
    case .beat: return (.family, .beat)
    case .opaque(let audience, let body): return (audience, .opaque(body))
    case .remind(let id): return question(id).map { (.conversation($0.child), .reminded(id)) }
    case .cancel(let id): return question(id).map { (.conversation($0.child), .cancelled(id)) }
    case .answer(let id, let choiceID):
      guard let header = question(id),
        let choice = header.choices.first(where: { $0.id == choiceID })
      else { return nil }
      let decision = Decision(question: id, choice: choice)
      return (.conversation(header.child), .decided(decision))
    case .answerInPerson(let header, let content, let choiceID, let proof):
      guard let choice = header.choices.first(where: { $0.id == choiceID }) else { return nil }
      let decision = Decision(question: header.id, choice: choice)
      return (
        .conversation(header.child), .answeredInPerson(header, content, decision, proof: proof)
      )
    case .addChild: return nil
    }
  }
}

extension Event {
  /// The event as a version shows it that does not know the kind of its content.
  ///
  /// - Parameter bytes: The encoding of the content.
  func withNewerContent(_ bytes: [UInt8]) -> Event {
    var event = self
    event.body = .opaque(OpaqueBody(kind: 0, bytes: bytes))
    return event
  }
}

extension Event.Body {
  /// The content; `nil` for events without one.
  package var content: Content? {
    switch self {
    case .accountChanged(_, let content), .asked(_, let content), .posted(_, let content),
      .contactChanged(_, let content), .answeredInPerson(_, let content, _, _),
      .withdrawn(_, let content), .ageNoted(_, let content), .ageSet(_, let content, _),
      .settingsChanged(_, let content, _):
      content
    case .rosterChanged, .limitsChanged, .reminded, .cancelled, .decided, .passcodeChanged,
      .invited, .joinRequested, .keysShared, .complained, .beat, .opaque:
      nil
    }
  }

  /// The body with another content.
  package func replacing(_ content: Content) -> Event.Body {
    switch self {
    case .accountChanged(let person, _): .accountChanged(person, content)
    case .asked(let header, _): .asked(header, content)
    case .posted(let child, _): .posted(child: child, content)
    case .contactChanged(let child, _): .contactChanged(child: child, content)
    case .answeredInPerson(let header, _, let decision, let proof):
      .answeredInPerson(header, content, decision, proof: proof)
    case .withdrawn(let child, _): .withdrawn(child: child, content)
    case .ageNoted(let person, _): .ageNoted(person, content)
    case .ageSet(let person, _, let proof): .ageSet(person, content, proof: proof)
    case .settingsChanged(let person, _, let proof):
      .settingsChanged(person, content, proof: proof)
    case .rosterChanged, .limitsChanged, .reminded, .cancelled, .decided, .passcodeChanged,
      .invited, .joinRequested, .keysShared, .complained, .beat, .opaque:
      self
    }
  }

  /// Whether the opened content is of the kind that the event requires.
  func fits(_ content: Content) -> Bool {
    switch self {
    case .accountChanged: if case .account = content { true } else { false }
    case .asked, .answeredInPerson: if case .question = content { true } else { false }
    case .posted: if case .text = content { true } else { false }
    case .contactChanged:
      switch content {
      case .contact, .contactName: true
      default: false
      }
    case .ageNoted:
      switch content {
      case .ageMemory, .apps, .webUse: true
      default: false
      }
    case .ageSet:
      switch content {
      case .ageSettings, .ageMemory(_, nil): true
      default: false
      }
    case .settingsChanged:
      switch content {
      case .webRules, .communicationSafety, .webUseDeleted: true
      default: false
      }
    case .withdrawn: if case .withdrawal = content { true } else { false }
    case .rosterChanged, .limitsChanged, .reminded, .cancelled, .decided, .passcodeChanged,
      .invited, .joinRequested, .keysShared, .complained, .beat, .opaque:
      false
    }
  }

  /// The earlier question that the event refers to.
  package var laterQuestion: QuestionID? {
    switch self {
    case .reminded(let id), .cancelled(let id): id
    case .decided(let decision): decision.question
    default: nil
    }
  }

  /// Whether guardians' receipts refer to the event. They refer to no shared keys, and to nothing that
  /// the relay does not know.
  var mayHaveReceipt: Bool {
    switch self {
    case .keysShared, .complained, .opaque: false
    default: true
    }
  }

  /// The question that the event creates.
  package var newQuestion: QuestionHeader? {
    switch self {
    case .asked(let header, _), .answeredInPerson(let header, _, _, _): header
    default: nil
    }
  }
}

extension Command {
  /// The question that the command asks.
  package var newQuestion: QuestionHeader? {
    switch self {
    case .ask(let header, _), .answerInPerson(let header, _, _, _): header
    default: nil
    }
  }
}
