import FamilyCore
import FamilyModel
import RelayWire
import Testing

private let id = ID128(high: 0x0102_0304_0506_0708, low: 0x090A_0B0C_0D0E_0F10)
private let device = DeviceAddress(family: FamilyID(7), device: DeviceID(3))
/// A valid picture of one pixel.
private let png: [UInt8] = [
  0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52, 0, 0, 0, 1,
  0, 0, 0, 1, 8, 0, 0, 0, 0, 0x3A, 0x7E, 0x9B, 0x55, 0, 0, 0, 10, 0x49, 0x44, 0x41, 0x54, 0x78,
  0x9C, 0x63, 0xF8, 0x0F, 0, 1, 1, 1, 0, 0xB1, 0x38, 0xF6, 0x14, 0, 0, 0, 0, 0x49, 0x45, 0x4E,
  0x44, 0xAE, 0x42, 0x60, 0x82,
]
private let ada = Subject(
  handle: Handle("ada", .custom),
  name: {
    var name = NameParts()
    name.given = "Ada"
    return name
  }(), avatar: Avatar(mediaType: "image/png", bytes: png))
private let question = Question(
  id: id, topic: .communication(people: [ada], actions: [.message, .chat]),
  choices: [.approve, .decline, Choice(id: "hour", title: "One hour", answer: .approval)],
  defaultChoice: .decline, expiration: Instant(milliseconds: 5))
private let header = QuestionHeader(
  id: id, child: PersonID(3), app: AppID("example.landmarks"), subjects: [9, 9],
  choices: [ChoiceHeader(id: "approve", answer: .approval)], expiration: nil)
private let roster = Roster(
  persons: [Person(id: PersonID(1), role: .organizer, displayName: "Rosa")],
  devices: [
    Device(id: DeviceID(1), person: PersonID(1), publicKey: .init(repeating: 5, count: 32))
  ])
private let sealed = Content.sealed([1, 2, 3])

private func event(_ body: Event.Body) -> Event {
  Event(
    seq: 9, previous: 4, audience: .conversation(PersonID(3)), command: id, device: DeviceID(3),
    at: Instant(milliseconds: 77), body: body)
}

private let events: [Event] = [
  event(.opaque(OpaqueBody(kind: 1_000, bytes: [1, 2]))),
  event(.opaque(OpaqueBody(kind: 300, bytes: [1, 2]))),
  event(.rosterChanged(roster)), event(.limitsChanged(child: PersonID(3), on: true)),
  event(.accountChanged(PersonID(3), sealed)), event(.asked(header, sealed)),
  event(.reminded(id)), event(.cancelled(id)),
  event(.decided(Decision(question: id, choice: ChoiceHeader(id: "no", answer: .denial)))),
  event(.posted(child: PersonID(3), sealed)), event(.contactChanged(child: PersonID(3), sealed)),
  event(.ageNoted(PersonID(3), sealed)), event(.ageSet(PersonID(3), sealed, proof: [])),
  event(.ageSet(PersonID(3), sealed, proof: proof)),
  event(.settingsChanged(PersonID(3), sealed, proof: [])),
  event(.settingsChanged(PersonID(3), sealed, proof: proof)),
  event(.passcodeChanged(passcode)), event(.withdrawn(child: PersonID(3), sealed)),
  event(
    .answeredInPerson(
      header, sealed,
      Decision(question: id, choice: ChoiceHeader(id: "approve", answer: .approval)), proof: proof)),
]
private let answer = AgeAnswer(
  gates: [13, 16], day: Account.Day(year: 2026, month: 11, day: 21),
  range: AgeRange(lower: 13, upper: 15, declaration: .guardianDeclared),
  known: AgeSpan(lower: 13, upper: 15))
private let settings: AgeSettings = {
  var settings = AgeSettings()
  settings.sharing = .never
  settings.apps = [AppID("a"): .always, AppID("b"): .askFirst]
  settings.ceiling = .thirteen
  return settings
}()
private let passcode = Passcode(
  salt: .init(repeating: 3, count: 16), logCost: 15, publicKey: .init(repeating: 4, count: 32),
  relayKey: .init(repeating: 5, count: 32))
private let element = [UInt8](repeating: 8, count: 32)
private let proof = [UInt8](repeating: 6, count: 64)

private let requests: [Request] = [
  .command(id, .setRoster(roster)), .command(id, .setAccount(PersonID(3), sealed)),
  .command(id, .setLimits(child: PersonID(3), on: false)), .command(id, .ask(header, sealed)),
  .command(id, .remind(id)), .command(id, .cancel(id)),
  .command(id, .answer(id, choice: "approve")),
  .command(id, .post(child: PersonID(3), sealed)),
  .command(id, .changeContact(child: PersonID(3), sealed)),
  .command(id, .setPasscode(passcode)), .command(id, .addChild(displayName: "Noah")),
  .command(id, .withdraw(child: PersonID(3), sealed)), .command(id, .noteAge(PersonID(3), sealed)),
  .command(id, .setAge(PersonID(3), sealed, proof: [])),
  .command(id, .setAge(PersonID(3), sealed, proof: proof)),
  .command(id, .changeSettings(PersonID(3), sealed, proof: [])),
  .command(id, .changeSettings(PersonID(3), sealed, proof: proof)),
  .command(id, .answerInPerson(header, sealed, choice: "approve", proof: proof)),
  .attach([Cursor(.family, delivered: 4, read: 2)]), .fetch(.family, after: 8),
  .acknowledge([Cursor(.account(PersonID(1)), delivered: 4)]), .ping,
  .present([]), .present([device, DeviceAddress(family: FamilyID(1 << 60), device: DeviceID(9))]),
  .evaluate(element, isNew: false), .evaluate(element, isNew: true),
]

private let replies: [Reply] = [
  .accepted(id, seq: 4), .refused(id, .alreadyAnswered),
  .refused(id, .earlyID(relayTime: Instant(milliseconds: 1_795_262_400_000))), .pong,
  .failed(.notEnrolled),
  .attached([
    Channel(
      audience: .family, generation: 2, head: 8, receipt: Receipt(delivered: 3, read: 1))
  ]),
  .page(.family, events, more: true),
  .evaluated(PasscodeEvaluation(element: element, proof: proof, relayKey: element)),
  .failed(.passcodeLocked(retryAfter: .hours(1))),
]

private let appRequests: [AppRequest] = [
  .attach(app: AppID("a"), applied: 3), .register, .ask(question, .inPerson), .acknowledge(5),
  .detach, .age(7, gates: nil), .age(8, gates: []), .age(9, gates: [13, -1, .max]),
  .ping,
  .ask(question, .choose, window: "Chats"), .age(10, gates: [13], window: "Photos"),
  .rating(11),
]

private let appReplies: [AppReply] = [
  .attached(acknowledged: 2), .reset(position: 1, known: [ada.handle]), .caughtUp,
  .entry(AppEntry(position: 4, body: .response(question, .decline))),
  .entry(AppEntry(position: 5, body: .known([ada.handle]))),
  .entry(AppEntry(position: 6, body: .forgotten([ada.handle]))),
  .entry(AppEntry(position: 7, body: .consentWithdrawn)),
  .entry(AppEntry(position: 7, body: .consentGiven)),
  .asked(id, .answeredInPerson(approved: true)), .asked(id, .answeredInPerson(approved: false)),
  .asked(id, .acknowledged),
  .asked(id, .sent), .asked(id, .cancelled), .asked(id, .alreadyAsked(id)),
  .asked(id, .answeredByDefault), .asked(id, .refused(.notAChild)), .failed(.malformed),
  .pong,
  .age(1, .shared(answer.range!)), .age(2, .declined), .age(3, .failed(.notDeclared)),
  .age(
    4,
    .shared(
      AgeRange(lower: nil, upper: nil, declaration: nil, controls: .communicationLimits))),
  .age(5, .status(isEligible: true, features: [.declaredAgeRangeRequired])),
  .age(6, .acknowledged), .age(7, .rating(.thirteen)), .age(8, .rating(nil)),
]

/// The values whose encodings are golden files.
enum WireSamples {
  private static let keys = [ContentKeyID(high: 3, low: 4)]
  private static let wraps = [
    KeyWrap(
      key: keys[0], reader: .init(repeating: 7, count: 32), bytes: .init(repeating: 8, count: 80))
  ]
  private static let invitation = Invitation(
    key: .init(repeating: 9, count: 32), person: PersonID(3), expires: Instant(milliseconds: 99))
  private static let join = JoinRequest(
    invitation: .init(repeating: 9, count: 32), publicKey: .init(repeating: 1, count: 32),
    signingKey: .init(repeating: 2, count: 32), agreementKey: .init(repeating: 3, count: 32),
    proof: proof)
  private static let opaque = OpaqueBody(kind: 1_000, bytes: [1, 2])

  static let requests =
    RelayWireTests.requests + [
      .command(id, .invite(invitation)), .command(id, .shareKeys(.family, wraps)),
      .command(id, .complain(.family, keys)), .command(id, .beat),
      .command(id, .opaque(.family, opaque)), .join(join),
    ]
  static let events =
    RelayWireTests.events + [
      RelayWireTests.event(.invited(invitation)), RelayWireTests.event(.keysShared(wraps)),
      RelayWireTests.event(.complained(keys)), RelayWireTests.event(.beat),
      RelayWireTests.event(.joinRequested(join)),
    ]
  static let replies = RelayWireTests.replies
  static let appRequests = RelayWireTests.appRequests
  static let appReplies = RelayWireTests.appReplies
}

private func decode<T>(_ bytes: [UInt8], _ body: (UnsafeRawBufferPointer) throws -> T) rethrows -> T
{
  try bytes.withUnsafeBytes { try body($0) }
}

@Suite struct WireTests {
  @Test("decoding inverts encoding for every request", arguments: requests)
  func request(_ request: Request) throws {
    let envelope = Envelope(device: device, requestID: 5, request: request)
    #expect(try decode(envelope.encode(), Envelope.decode) == envelope)
  }

  @Test("T8: rejects elements, proofs and keys of another length") func lengths() {
    for count in [0, 31, 33] {
      let bytes = [UInt8](repeating: 1, count: count)
      let request = Envelope(
        device: device, requestID: 1, request: .evaluate(bytes, isNew: false)
      ).encode()
      #expect(throws: Problem.malformed) { try decode(request, Envelope.decode) }
      for evaluation in [
        PasscodeEvaluation(element: bytes, proof: proof, relayKey: element),
        PasscodeEvaluation(element: element, proof: bytes, relayKey: element),
        PasscodeEvaluation(element: element, proof: proof, relayKey: bytes),
      ] {
        let reply = ReplyEnvelope(device: device, requestID: 1, reply: .evaluated(evaluation))
        #expect(throws: Problem.malformed) { try decode(reply.encode(), ReplyEnvelope.decode) }
      }
    }
  }

  @Test("decoding inverts encoding for every reply", arguments: replies)
  func reply(_ reply: Reply) throws {
    let envelope = ReplyEnvelope(device: device, requestID: 5, reply: reply)
    #expect(try decode(envelope.encode(), ReplyEnvelope.decode) == envelope)
  }

  @Test("decoding inverts encoding for every event and its broadcast", arguments: events)
  func event(_ event: Event) throws {
    #expect(try Event.decode(event.encode()) == event)
    #expect(try Broadcast.decode(Broadcast.event(event).encode()) == .event(event))
  }

  @Test("Q3: a person's handle, name and avatar from the app reach the guardian")
  func content() throws {
    let asked = RelayWireTests.event(.asked(header, .question(question)))
    let arrived = try Event.decode(asked.encode())
    // The relay decodes bytes only; a device opens them.
    guard case .asked(_, .sealed) = arrived.body else {
      Issue.record("the relay would see the question")
      return
    }
    #expect(arrived.opened() == asked)
  }

  @Test("S2: drops an invalid image and keeps the question")
  func invalidImage() throws {
    func with(_ avatar: Avatar?) -> Question {
      var subject = ada
      subject.avatar = avatar
      var changed = question
      changed.topic = .communication(people: [subject], actions: [.message, .chat])
      return changed
    }
    func carried(_ question: Question) throws -> Question? {
      let asked = Broadcast.event(RelayWireTests.event(.asked(header, .question(question))))
      guard case .event(let opened) = try Broadcast.decode(asked.encode()).opened(),
        case .asked(_, .question(let arrived)) = opened.body
      else { return nil }
      return arrived
    }
    let hostile = Avatar(mediaType: "image/png", bytes: Array("<svg/>".utf8))
    #expect(try carried(with(hostile)) == with(nil))
    #expect(try carried(question) == question)
  }

  @Test("decoding inverts encoding for every message between app and device")
  func apps() throws {
    for request in appRequests {
      #expect(try decode(request.encode(), AppRequest.decode) == request)
    }
    let window = String(repeating: "w", count: Limits.windowBytes)
    let longest = AppRequest.ask(question, .choose, window: window)
    #expect(try decode(longest.encode(), AppRequest.decode) == longest)
    let longer = AppRequest.ask(question, .choose, window: window + "w")
    #expect(throws: Problem.tooLarge) { try decode(longer.encode(), AppRequest.decode) }
    for reply in appReplies { #expect(try decode(reply.encode(), AppReply.decode) == reply) }
  }

  @Test("D10: decoding inverts encoding for age memories, age settings and accounts")
  func ages() throws {
    let app = AppID("example.landmarks")
    let account = Account(
      birthdate: answer.day, region: "US-TX", declaration: .guardianPaymentChecked,
      timeZone: "Europe/Paris")
    let apps = [
      ListedApp(
        app: app, name: "Landmarks", rating: .nine, frameworks: [.permissions, .ageRanges]),
      ListedApp(app: AppID("example.other")),
    ]
    for body in [
      .ageNoted(PersonID(3), .ageMemory(app, answer)), .ageNoted(PersonID(3), .ageMemory(app, nil)),
      .ageNoted(PersonID(3), .apps(apps)), .ageNoted(PersonID(3), .apps([])),
      .ageSet(PersonID(3), .ageSettings(settings), proof: proof),
      .accountChanged(PersonID(3), .account(account)),
    ] as [Event.Body] {
      let sent = RelayWireTests.event(body)
      #expect(try Event.decode(sent.encode()).opened() == sent)
    }
  }

  @Test("decoding inverts encoding for the records of devices and apps")
  func records() throws {
    let app = AppID("example.landmarks")
    var records: [DeviceRecord] = [
      .event(RelayWireTests.event(.reminded(id))), .cursor(Cursor(.family, delivered: 3, read: 1)),
      .receipt(.conversation(PersonID(3)), Receipt(delivered: 5, read: 4)),
      .outbox(position: 8, id, .ask(header, .question(question))),
      .lost(RelayWireTests.event(.limitsChanged(child: PersonID(3), on: true)), after: 7),
      .app(app, AppProgress(registered: true, acknowledged: 3, head: 5)),
      .app(app, AppProgress(head: 5, rating: .sixteen)),
      .entry(app, AppEntry(position: 4, body: .known([Handle("x", .emailAddress)]))),
      .latestTime(Instant(milliseconds: 1_795_262_400_000)), .named(app, ada.handle),
      .snapshot([1, 2, 3]),
      .outbox(
        position: 16, id, .changeContact(child: PersonID(3), .contactName(ada.handle, "Ada"))),
      .outbox(
        position: 9, id, .withdraw(child: PersonID(3), .withdrawal(.handle(ada.handle, in: app)))),
      .outbox(
        position: 10, id, .withdraw(child: PersonID(3), .withdrawal(.handle(ada.handle, in: nil)))),
      .outbox(position: 11, id, .withdraw(child: PersonID(3), .withdrawal(.consent(app)))),
      .outbox(position: 11, id, .withdraw(child: PersonID(3), .withdrawal(.consentGiven(app)))),
      .outbox(position: 12, id, .noteAge(PersonID(3), .ageMemory(app, answer))),
      .outbox(position: 13, id, .noteAge(PersonID(3), .ageMemory(app, nil))),
      .outbox(
        position: 14, id,
        .noteAge(PersonID(3), .ageMemory(app, AgeAnswer(gates: [18], day: answer.day, range: nil)))),
      .outbox(position: 15, id, .setAge(PersonID(3), .ageSettings(settings), proof: proof)),
      .outbox(
        position: 16, id,
        .changeSettings(PersonID(3), .communicationSafety(.descriptive), proof: proof)),
    ]
    let notices: [Notice] = [
      .decided(id, ChoiceHeader(id: "approve", answer: .approval), by: PersonID(1)),
      .withdrawn(.consent(app), by: PersonID(1)),
      .ageShared(app, AgeRange(lower: 13, upper: nil, declaration: .selfDeclared)),
      .message(child: PersonID(3), from: PersonID(1), seq: 7), .reminded(id),
      .ratingsRaised(child: PersonID(3), [RisenRating(app: app, rating: .thirteen)]),
      .deviceAdded(DeviceID(7), of: PersonID(2)),
    ]
    records += notices.map { notice in
      .notification(
        DeviceNotification(id: id, at: Instant(milliseconds: 5), notice: notice, isRead: true))
    }
    for record in records {
      #expect(try DeviceRecord.decode(key: record.key.bytes, value: record.value) == record)
    }
    var statements = Statements<KnownStatement.Change>()
    statements.add(
      .init(isKnown: true, until: Instant(milliseconds: 8)),
      StatementOrder(seq: 9, known: 5, command: CommandName(DeviceID(2), id)))
    statements.add(
      .init(isKnown: false), StatementOrder(seq: 8, known: 4, command: CommandName(DeviceID(2), id))
    )
    let kept: [AppRecord] = [
      .known(ada.handle), .position(applied: 5, consumed: 3), .consumedAhead(4), .consentWithdrawn,
      .latestTime(Instant(milliseconds: 7)), .named(ada.handle),
      .roster(ChainHash(bytes: Array(repeating: 9, count: 32))!),
      .statement(
        KnownStatement(
          kind: .limitedIn, handle: ada.handle, changes: statements)),
    ]
    for record in kept {
      #expect(try AppRecord.decode(key: record.key, value: record.value) == record)
    }
    let early = RecordKey.outbox(position: 255).bytes
    #expect(early.lexicographicallyPrecedes(RecordKey.outbox(position: 256).bytes))
  }

  @Test("another version, an oversized frame and an empty request are distinct problems")
  func refuses() {
    var other = Envelope(device: device, requestID: 5, request: .ping).encode()
    other[1] = 9
    #expect(throws: Problem.unsupportedVersion) { try decode(other, Envelope.decode) }
    #expect(throws: Problem.unsupportedVersion) { try decode([], Envelope.decode) }
    #expect(throws: Problem.tooLarge) {
      try decode([UInt8](repeating: 0, count: Limits.frameBytes + 1), Envelope.decode)
    }
    #expect(throws: Problem.unknownRequest) { try decode([8, 1], Envelope.decode) }
  }

  @Test("the encoding of a request is stable")
  func golden() {
    let bytes = Envelope(device: device, requestID: 5, request: .fetch(.family, after: 8)).encode()
    #expect(bytes == [8, 1, 16, 7, 24, 3, 32, 5, 66, 2, 16, 8])
  }

  @Test("each of 100,000 damaged frames decodes to a value or throws a problem")
  func fuzz() {
    var source = IDSource(seed: 20_261_121)
    let samples =
      requests.map { Envelope(device: device, requestID: 5, request: $0).encode() }
      + replies.map { ReplyEnvelope(device: device, requestID: 5, reply: $0).encode() }
      + events.map { Broadcast.event($0).encode() } + [AppRequest.ask(question, .choose).encode()]
    var problems = 0
    for _ in 0..<25_000 {
      var bytes = samples[Int(source.next() % UInt64(samples.count))]
      switch source.next() % 3 {
      case 0: bytes.removeLast(Int(source.next() % UInt64(bytes.count + 1)))
      case 1:
        for _ in 0...source.next() % 4 where !bytes.isEmpty {
          bytes[Int(source.next() % UInt64(bytes.count))] = UInt8(truncatingIfNeeded: source.next())
        }
      default:
        bytes = (0..<source.next() % 64).map { _ in UInt8(truncatingIfNeeded: source.next()) }
      }
      if (try? decode(bytes, Envelope.decode)) == nil { problems += 1 }
      if (try? decode(bytes, ReplyEnvelope.decode)) == nil { problems += 1 }
      if (try? decode(bytes, AppRequest.decode)) == nil { problems += 1 }
      if (try? Broadcast.decode(bytes).opened()) == nil { problems += 1 }
    }
    #expect(problems > 10_000)
  }
}
