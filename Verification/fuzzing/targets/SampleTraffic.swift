import FamilyCore
import FamilyModel
import RelayWire

/// The sample traffic of one family: all messages sent and all records stored.
struct SampleTraffic {
  var requests: [[UInt8]] = []
  var replies: [[UInt8]] = []
  var events: [[UInt8]] = []
  var records: [DeviceRecord] = []
  let appRequests: [[UInt8]]
  let appReplies: [[UInt8]]
  let appRecords: [AppRecord]

  private static let newKey = FuzzedFamily.key(8)
  private static let handle = Handle("maria", .custom)
  private static let question = Question(
    id: ID128(high: 2, low: 1),
    topic: .communication(people: [Subject(handle: handle)], actions: [.message]))

  private static let activity = Activity(
    "activity0", number: 1, from: Instant(milliseconds: 1), to: Instant(milliseconds: 3_600_001),
    warning: 60,
    thresholds: [
      Activity.Threshold("limit", seconds: 600, sites: [Site("example.co.uk")!])
    ])

  init(isSigned: Bool) {
    let question = Self.question
    var settings = ManagedSettings()
    settings.sites = .specific([Site("example.co.uk")!])
    settings.blockedApps = [AppID("b")]
    appRequests = [
      .attach(app: AppID("a"), applied: 1), .register, .ask(question, .choose),
      .ask(question, .byMessage), .acknowledge(1), .detach, .ping, .sites([Site("example.co.uk")!]),
      .manage("store", settings), .watch(Self.activity), .unwatch("activity0"),
      .safety, .analyze(7, Avatar(mediaType: "image/png", bytes: [1, 2, 3])),
      .useWeb(8, ShownPages(seconds: 9, sites: [Site("example.co.uk")!: 9])),
      .deleteWebUse(9, .site(Site("example.co.uk")!)), .deleteWebUse(10, .all),
      .deleteWebUse(
        11, .days(from: Instant(milliseconds: 1), through: Instant(milliseconds: 2))),
    ].map { (request: AppRequest) in request.encode() }
    let entry = AppEntry(position: 1, body: .response(question, question.choices[0]))
    appReplies = [
      .attached(acknowledged: 0), .reset(position: 1, known: [Self.handle]), .entry(entry),
      .caughtUp, .asked(question.id, .sent), .failed(.tooLarge), .pong,
      .sites([SiteAccess(Site("example.co.uk")!, .ask)], isRestricted: true), .sitesChanged,
      .managed("store", .notAuthorized),
      .watched("activity0", 1, .activityOver, at: Self.activity.end),
      .entry(
        AppEntry(
          position: 2,
          body: .activity("activity0", 1, .reached("limit"), at: Self.activity.end))),
      .safety(.simple), .analyzed(7, .checked(isSensitive: true)),
      .analyzed(7, .failed(.noVerdict)), .webUsed(9),
    ].map { (reply: AppReply) in reply.encode() }
    appRecords = [
      .known(Self.handle), .position(applied: 3, consumed: 2), .consumedAhead(3),
      .roster(ChainHash(bytes: Array(repeating: 9, count: 32))!), .authorizationDenied,
      .managed("store", settings), .webDeletion(9, .all),
      .activity(PlannedActivity(Self.activity, schedule: [1, 2], isConfirmed: true)),
    ]
    var family = FuzzedFamily(isSigned: isSigned)
    let child = PersonID(3)
    sendCommands(to: &family, isSigned: isSigned)
    sendRequests(to: &family)
    let page = Reply.page(.conversation(child), family.log, more: false)
    replies.append(
      ReplyEnvelope(
        device: DeviceAddress(family: FuzzedFamily.id, device: DeviceID(30)), requestID: 2,
        reply: page
      ).encode())
    events = family.log.map { $0.encode() }
    let day = WebDay(
      Account.Day(year: 2026, month: 2, day: 28), seconds: 9,
      sites: [Site("example.co.uk")!: 9], isShortened: true)
    records =
      family.log.map { .event($0) } + [
        .cursor(Cursor(.family, delivered: 1)),
        .receipt(.conversation(child), Receipt(delivered: 2, read: 1)),
        .outbox(position: 1, ID128(high: 9, low: 9), .post(child: child, .text("hi"))),
        .app(AppID("a"), AppProgress()), .entry(AppID("a"), entry),
        .webUse(AppID("a"), day, message: 4),
        .activity(AppID("a"), WatchedActivity(Self.activity)),
        .webReport(
          child, DeviceID(30),
          ReportedWebDay(day, stamp: ID128(high: 9, low: 9), deletion: 3)),
      ]
  }

  /// The commands of the sample and the devices that send them.
  private static func commands(_ now: Instant) -> [(device: UInt32, command: Command)] {
    let child = PersonID(3)
    let header = QuestionHeader(
      id: question.id, child: child, app: AppID("a"), subjects: [1],
      choices: question.choices.map { ChoiceHeader(id: $0.id, answer: $0.answer) },
      expiration: nil)
    return [
      (30, .ask(header, .question(question))), (10, .answer(question.id, choice: "approve")),
      (20, .post(child: child, .text("hello"))), (30, .remind(question.id)),
      (10, .changeContact(child: child, .contact(handle, known: true))),
      (10, .setLimits(child: child, on: false)), (20, .addChild(displayName: "Lian")),
      (10, .withdraw(child: child, .withdrawal(.handle(handle, in: nil)))),
      (
        10,
        .setPasscode(
          Passcode(
            salt: Array(repeating: 1, count: 16), logCost: 4,
            publicKey: Array(repeating: 2, count: 32)))
      ),
      (
        10,
        .invite(
          Invitation(key: FuzzedFamily.key(9), person: child, expires: now + .minutes(1)))
      ),
    ]
  }

  private mutating func sendCommands(to family: inout FuzzedFamily, isSigned: Bool) {
    for (number, (device, command)) in Self.commands(family.now).enumerated() {
      let id = ID128(high: 1, low: UInt64(number) + 10)
      guard isSigned else {
        send(&family, device, .command(id, command))
        continue
      }
      var machine = GuardianMachine(
        DeviceAddress(family: FuzzedFamily.id, device: DeviceID(device)),
        of: PersonID(device / 10), security: FuzzVault.security(device),
        restoring: family.log.map { .event($0) }, ids: IDSource(seed: UInt64(number)))
      for signed in (try? machine.prepare(command, now: family.now)) ?? [] {
        send(&family, device, .command(signed.id, signed.command, signed.signature))
      }
    }
  }

  private mutating func sendRequests(to family: inout FuzzedFamily) {
    let child = PersonID(3)
    let join = JoinRequest(
      invitation: FuzzedFamily.key(9), publicKey: FuzzedFamily.key(30), signingKey: Self.newKey,
      agreementKey: Self.newKey, proof: Array(repeating: 1, count: 64))
    send(&family, 30, .join(join))
    for device in [UInt32(10), 30] {
      send(&family, device, .attach([Cursor(.family, delivered: 1)]))
      send(&family, device, .ping)
      let element = PasscodeAttempt.ideal("258013").element
      send(&family, device, .evaluate(element, isNew: device == 10))
      send(&family, device, .fetch(.conversation(child), after: 0))
      send(&family, device, .acknowledge([Cursor(.conversation(child), delivered: 2, read: 1)]))
    }
  }

  private mutating func send(_ family: inout FuzzedFamily, _ device: UInt32, _ request: Request) {
    let address = DeviceAddress(family: FuzzedFamily.id, device: DeviceID(device))
    requests.append(Envelope(device: address, requestID: 1, request: request).encode())
    for case .reply(let address, let id, let reply) in family.send(device, request) {
      replies.append(ReplyEnvelope(device: address, requestID: id.rawValue, reply: reply).encode())
    }
  }
}
