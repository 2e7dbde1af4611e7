extension Question {
  /// Checks topic, choices and expiration.
  ///
  /// - Throws: the first `Problem` that applies, in the order of the table; `tooLarge` for an
  ///   expiration that no message can carry.
  public func validate(now: Instant) throws(Problem) {
    try topic.validate()
    guard !choices.isEmpty, choices.count <= Limits.choices,
      Set(choices.map(\.id)).count == choices.count
    else { throw .badChoices }
    for choice in choices {
      try checkText(choice.id, Limits.identifierBytes)
      try checkText(choice.title, Limits.titleBytes)
      try choice.end?.validate(choice.answer, topic.kind, now: now)
    }
    guard choices.contains(defaultChoice) else { throw .defaultChoiceMissing }
    if let expiration {
      guard expiration > now else { throw .expirationInThePast }
      guard Limits.times ~= expiration.milliseconds else { throw .tooLarge }
    }
  }
}

extension Topic {
  func validate() throws(Problem) {
    switch self {
    case .significantUpdate(let description): try checkText(description, Limits.textBytes)
    case .browse, .authorization: break
    case .communication(let people, _):
      guard !people.isEmpty else { throw .emptyHandle }
      guard people.count <= Limits.subjects else { throw .tooMany }
      for person in people { try person.validate() }
    }
  }
}

extension Subject {
  func validate() throws(Problem) {
    guard handle.isOfPerson else { throw .badHandle }
    try handle.validate()
    try avatar?.validate()
    guard let name else { return }
    for part in [name.prefix, name.given, name.middle, name.family, name.suffix, name.nickname]
    where part.utf8.count > Limits.titleBytes { throw .badText }
  }
}

extension Content {
  /// Checks a change of a contact before it is sent.
  ///
  /// - Throws: the problem of the handle, or `badText` for a name that is too long or has control
  ///   characters.
  public func validateContact() throws(Problem) {
    switch self {
    case .contact(let handle, _):
      guard handle.isOfPerson else { throw .badHandle }
      try handle.validate()
    case .contactName(let handle, let name):
      try handle.validate()
      guard name.utf8.count <= Limits.titleBytes,
        !name.unicodeScalars.contains(where: { $0.properties.generalCategory == .control })
      else { throw .badText }
    default: break
    }
  }
}

func checkText(_ text: String, _ limit: Int) throws(Problem) {
  guard !text.isEmpty, text.utf8.count <= limit else { throw .badText }
}
