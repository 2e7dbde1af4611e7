import FamilyModel

/// The kinds of contents. The compiler asks for a case, and for values, when a kind is added.
enum ContentKind: CaseIterable {
  case sealed, question, text, contact, contactName, account, withdrawal, ageMemory, ageSettings
  case apps, webRules, communicationSafety, webUse, webUseDeleted, erased

  init(_ content: Content) {
    self =
      switch content {
      case .sealed: .sealed
      case .question: .question
      case .text: .text
      case .contact: .contact
      case .contactName: .contactName
      case .account: .account
      case .withdrawal: .withdrawal
      case .ageMemory: .ageMemory
      case .ageSettings: .ageSettings
      case .apps: .apps
      case .webRules: .webRules
      case .communicationSafety: .communicationSafety
      case .webUse: .webUse
      case .webUseDeleted: .webUseDeleted
      case .erased: .erased
      }
  }

  /// A content of this kind. Its values may be invalid.
  func make(_ input: inout Bytes, now: Instant) -> Content {
    switch self {
    case .sealed: .sealed(input.chunk())
    case .question: .question(input.question(now))
    case .text: .text(input.text(Limits.textBytes))
    case .contact: .contact(input.handle(), known: input.byte() & 1 == 1)
    case .contactName: .contactName(input.handle(), input.text(Limits.titleBytes))
    case .account: .account(input.account())
    case .withdrawal: .withdrawal(input.withdrawal())
    case .ageMemory: .ageMemory(input.app(), input.isRare(4) ? nil : input.ageAnswer())
    case .ageSettings: .ageSettings(input.ageSettings())
    case .erased: .erased((0..<32).map { _ in input.byte() })
    case .apps: .apps(input.array(Limits.listedApps) { $0.listedApp() })
    case .webRules: .webRules(input.webRules())
    case .communicationSafety: .communicationSafety(input.any(CommunicationSafety.allCases))
    case .webUse: .webUse(input.webUse())
    case .webUseDeleted: .webUseDeleted(input.isRare(2) ? nil : input.site())
    }
  }
}

extension Bytes {
  mutating func handle() -> Handle {
    let kind = any(Handle.Kind.allCases)
    guard kind != .phoneNumber || isRare(8) else { return Handle("+1555010\(pick(4))", kind) }
    return Handle(text(Limits.handleBytes), kind)
  }

  mutating func question(_ now: Instant) -> Question {
    let choices =
      isRare(4)
      ? array(Limits.choices) { input in input.choice(now) } : [.approve, .decline]
    return Question(
      id: ID128(high: 2, low: UInt64(pick(8))), topic: topic(), choices: choices,
      defaultChoice: isRare(4) ? choice(now) : choices.last ?? .decline,
      expiration: isRare(4) ? instant(now) : nil)
  }

  private mutating func topic() -> Topic {
    guard !isRare(16) else { return .authorization }
    guard !isRare(12) else { return .browse(site()) }
    guard !isRare(6) else { return .significantUpdate(description: text(Limits.textBytes)) }
    let people = array(Limits.subjects) { input in
      var name = NameParts()
      name.given = input.isRare(4) ? input.text(Limits.titleBytes) : ""
      return Subject(
        handle: input.handle(), name: name.given.isEmpty ? nil : name,
        avatar: input.isRare(8) ? Avatar(mediaType: "image/png", bytes: input.chunk()) : nil)
    }
    return .communication(
      people: people, actions: Actions(rawValue: UInt32(truncatingIfNeeded: edge())))
  }

  private mutating func choice(_ now: Instant) -> Choice {
    let end: ChoiceEnd? =
      switch pick(4) {
      case 0: .after(Milliseconds(Int64(bitPattern: edge())))
      case 1: .at(instant(now))
      default: nil
      }
    return Choice(
      id: any(["approve", "decline", "e\u{301}", text(Limits.identifierBytes)]),
      title: text(Limits.titleBytes), answer: isRare(2) ? .approval : .denial, end: end)
  }

  mutating func withdrawal() -> Withdrawal {
    switch pick(4) {
    case 0: .consent(app())
    case 1: .consentGiven(app())
    default: .handle(handle(), in: isRare(2) ? app() : nil)
    }
  }

  mutating func day() -> Account.Day {
    let year = isRare(4) ? Int32(truncatingIfNeeded: edge()) : 2_000 + Int32(pick(32))
    return Account.Day(year: year, month: byte() % 14, day: byte() % 33)
  }

  mutating func account() -> Account {
    Account(
      birthdate: isRare(8) ? nil : day(), region: any(["US-TX", "FR", text(64)]),
      declaration: any(Account.Declaration.allCases), timeZone: any(["", "Europe/Paris", text(64)]))
  }

  private mutating func age() -> Int32 {
    isRare(8) ? Int32(truncatingIfNeeded: edge()) : Int32(pick(152))
  }

  mutating func ageAnswer() -> AgeAnswer {
    let span = { (input: inout Bytes) in input.isRare(4) ? Optional<Int32>.none : input.age() }
    return AgeAnswer(
      gates: array(3) { $0.age() }, day: day(),
      range: isRare(4) ? nil : AgeRange(lower: span(&self), upper: span(&self), declaration: nil),
      known: AgeSpan(lower: span(&self), upper: span(&self)))
  }

  mutating func ageSettings() -> AgeSettings {
    var settings = AgeSettings()
    settings.sharing = any(AgeSharing.allCases)
    settings.ceiling = isRare(2) ? any(AgeRating.allCases) : nil
    settings.sandbox = isRare(4) ? any(SandboxCase.allCases) : nil
    for index in array(Limits.ageApps, { $0.app() }).enumerated() {
      settings.apps[AppID("\(index.element.rawValue)\(index.offset)")] = any(AgeSharing.allCases)
    }
    return settings
  }

  mutating func site() -> Site { Site("site\(pick(4)).example")! }

  mutating func webUse() -> WebUse {
    let days = array(Limits.webUseDaysInReport) { input in
      WebDay(
        input.day(), seconds: input.isRare(4) ? .max : UInt32(input.byte()),
        sites: [input.site(): UInt32(input.byte())], isShortened: input.isRare(2))
    }
    return WebUse(days, deletion: UInt64(pick(8)))
  }

  mutating func webRules() -> WebRules {
    var rules = WebRules()
    rules.others = any(WebAccess.allCases)
    rules.report = any(WebReport.allCases)
    for index in 0..<array(Limits.webSites, { $0.byte() }).count {
      rules.sites[Site("site\(index).example")!] = any(WebAccess.allCases)
    }
    return rules
  }

  mutating func listedApp() -> ListedApp {
    ListedApp(
      app: app(), name: isRare(2) ? text(Limits.titleBytes) : nil,
      rating: isRare(4) ? nil : any(AgeRating.allCases),
      frameworks: AppFrameworks(rawValue: UInt32(truncatingIfNeeded: edge())))
  }
}
