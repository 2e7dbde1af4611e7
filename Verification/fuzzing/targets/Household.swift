import FamilyCore
import FamilyHarness
import FamilyModel
import RelayWire

/// A family of real machines at a real relay. Organizer 1 has the devices 10 and 11, guardian 2 has 20,
/// adult 4 has 50. Child 3 has 30 and 31, with an app on each.
///
/// The device ``member`` has no machine: a fuzzer acts with its keys.
struct Household: FamilyDriver {
  static let app = AppID("a")
  static let child = PersonID(3)
  static let start = Instant(milliseconds: 1_700_000_000_000)

  var machines = FamilyMachines(
    now: start,
    relay: RelayMachine(
      verify: IdealVault.verify, digest: IdealVault.relayDigest, snapshotEvery: 16))
  let founded: Roster
  var apps: [UInt32: AppMachine] = [:]
  var member: UInt32 = 0
  /// Whether the member knows the family's passcode.
  var knowsPasscode = false
  /// The handles that an honest guardian approved or added.
  var approved: Set<Handle> = []
  /// The content keys that the member was given or made.
  var memberKeys: [(audience: Audience, name: ContentKeyID, secret: [UInt8])] = []
  var readKeyShares = 0
  /// The messages of device 30 to its app, if ``recordsReplies`` is set.
  var replies: [AppReply] = []
  var recordsReplies = false
  private var nextQuestion: UInt64 = 0

  init() {
    let devices: [(UInt32, UInt32)] = [(10, 1), (11, 1), (20, 2), (30, 3), (31, 3), (50, 4)]
    founded = Roster(
      [(.organizer, "Rosa"), (.guardian, "Alex"), (.child, "Emily"), (.adult, "Uncle")],
      devices: devices.map { id, person in
        let key = Device.curveKey(id)
        return Device(
          id: DeviceID(id), person: PersonID(person), publicKey: key, signingKey: key,
          agreementKey: key)
      })
    IdealVault.made.withLock { $0 = 0 }
    found(founded, organizer: 10)
    for device in founded.devices.map(\.id.rawValue) { restore(device, []) }
    for device in founded.devices.map(\.id.rawValue) { connect(device) }
  }

  func security(_ device: UInt32) -> Security? { IdealVault.security(device) }

  /// Starts a device from its records.
  mutating func restore(_ device: UInt32, _ records: [DeviceRecord]) {
    guard let person = founded.device(DeviceID(device))?.person else { return }
    if founded.role(of: person)?.isGuardian ?? false {
      machines.guardians[device] = GuardianMachine(
        address(device), of: person, security: security(device), restoring: records,
        ids: machines.newIDs())
      return
    }
    machines.children[device] = ChildMachine(
      address(device), of: person, apps: person == Self.child ? [Self.app] : [],
      security: security(device), restoring: records, ids: machines.newIDs())
    guard person == Self.child, apps[device] == nil else { return }
    let security = AppSecurity(
      family: Self.family, child: Self.child, organizerKey: IdealVault.key(10))
    apps[device] = AppMachine(
      Self.app, trusting: (security, IdealVault(number: 0)))
    app(device, .subscribe(.communication))
    app(device, .name(["ada", "ben", "eve"].map { Handle($0, .custom) }))
    app(device, .connected)
  }

  mutating func app(_ device: UInt32, _ input: AppMachine.Input) {
    for effect in apps[device]?.step(input) ?? [] {
      if case .send(let request) = effect, machines.children[device] != nil,
        let received = request.transmitted
      {
        child(device, .app(Self.app, received))
      }
      if case .deliver(let position, _, _) = effect { app(device, .consumed(position)) }
    }
  }

  mutating func ask(_ handle: Handle, on device: UInt32, _ manner: AskManner) {
    ask(
      .communication(people: [Subject(handle: handle)], actions: .message), on: device, manner)
  }

  mutating func ask(_ topic: Topic, on device: UInt32, _ manner: AskManner) {
    nextQuestion += 1
    app(device, .ask(Question(id: QuestionID(high: 77, low: nextQuestion), topic: topic), manner))
  }

  // MARK: Effects

  mutating func carryOut(_ effect: DeviceEffect, of device: UInt32) {
    switch effect {
    case .requestAdmission(let command): child(device, .admitted(command))
    case .derivePasscode(_, let evaluation):
      guardian(
        device,
        .setPasscode(
          Passcode(
            salt: Array(repeating: 0, count: 16), logCost: 4, publicKey: IdealVault.key(200),
            relayKey: evaluation.relayKey)))
    case .checkPasscode(let prompt, _, _, _, let bytes):
      child(
        device,
        .passcodeChecked(prompt: prompt, proof: IdealVault(number: 200).sign(bytes)))
    case .checkPicture(let number, let picture):
      child(
        device,
        .pictureChecked(number, .checked(isSensitive: picture.bytes.count % 2 == 0)))
    case .prompt(let number, .compose, _):
      child(device, .answered(prompt: number, .send(names: [])))
    case .prompt(let number, .passcode(_, let question, _, after: nil), _):
      // A guardian types the passcode once, and so approves the question.
      approved.formUnion(question.topic.handles.map(\.canonical))
      child(device, .answered(prompt: number, .passcode("258013", choice: nil)))
    case .prompt(let number, .alreadyAsked(_, _, mayRemind: true), _):
      child(device, .answered(prompt: number, .remind))
    case .prompt(let number, _, _):
      // An app repeats a question without an outcome after each restart of its device.
      child(device, .answered(prompt: number, .cancel))
    case .app(_, let reply):
      guard let received = reply.transmitted else { return }
      if recordsReplies, device == 30 { replies.append(received) }
      app(device, .reply(received))
    default: break
    }
  }

  // MARK: The wire

  func transmit(_ request: Request, number: UInt64, from device: UInt32) -> Request {
    guard device != member else { return request }
    let sent = Envelope(device: address(device), requestID: number, request: request)
    guard let received = try? sent.encode().withUnsafeBytes({ try Envelope.decode($0) }) else {
      fatalError("a device sent a request that cannot be decoded: \(request)")
    }
    return received.request
  }

  func stored(_ event: Event) -> Event {
    guard let stored = try? Event.decode(event.encode()) else {
      fatalError("an encoded event does not decode")
    }
    return stored
  }
}

extension AppRequest {
  /// The request as the device receives it; `nil` if the device cannot decode it.
  fileprivate var transmitted: AppRequest? {
    try? encode().withUnsafeBytes { try AppRequest.decode($0) }
  }
}

extension AppReply {
  /// The reply as the app receives it.
  fileprivate var transmitted: AppReply? {
    try? encode().withUnsafeBytes { try AppReply.decode($0) }
  }
}
