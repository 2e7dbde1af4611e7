import FamilyCore
import FamilyHarness
import FamilyModel
import RelayWire

/// The acts of the other members, and the weather.
extension Household {
  /// The household after an ordinary day, when the member's machine stops.
  static func afterOneDay(member: UInt32) -> Household {
    var house = Household()
    house.guardian(10, .choosePasscode("258013"))
    house.guardian(
      10,
      .setAccount(
        child,
        Account(
          birthdate: Account.Day(year: 2014, month: 5, day: 17), region: "US-TX",
          declaration: .guardianDeclared)))
    house.ask(Handle("ada", .custom), on: 30, .byMessage)
    house.answer("approve", by: 20)
    house.guardian(10, .changeContact(child: child, Handle("+15550100", .phoneNumber), known: true))
    house.approved.insert(Handle("+15550100", .phoneNumber).canonical)
    house.child(30, .post("hello"))
    house.wait(.minutes(1))
    house.member = member
    house.machines.guardians[member] = nil
    house.machines.children[member] = nil
    house.machines.disks[member] = nil
    house.apps[member] = nil
    return house
  }

  private var honestGuardians: [UInt32] { machines.guardians.keys.sorted() }
  private var honestChildren: [UInt32] {
    machines.children.keys.filter { $0 / 10 == Self.child.rawValue }.sorted()
  }

  /// Whether the member may approve.
  var isMemberGuardian: Bool { member < 30 }

  /// The guardian answers the first open question.
  mutating func answer(_ choice: String, by device: UInt32) {
    guard let bubble = machines.guardians[device]?.open(now: machines.now).first,
      let choice = bubble.question.choices.first(where: { $0.id == choice })
        ?? bubble.question.choices.first
    else { return }
    if choice.answer == .approval {
      approved.formUnion(bubble.question.topic.handles.map(\.canonical))
    }
    guardian(device, .answer(bubble.question.id, choice: choice.id))
  }

  /// A person acts, or time passes, or a device loses its connection or its process.
  mutating func live(_ input: inout Bytes) {
    let (parent, kid) = (input.any(honestGuardians), input.any(honestChildren))
    switch input.pick(10) {
    case 0: ask(input.handle(), on: kid, input.isRare(4) ? .inPerson : .byMessage)
    case 1: answer(input.isRare(4) ? "decline" : "approve", by: parent)
    case 2: actAsGuardian(parent, &input)
    case 3: child(kid, .post("hi"))
    case 4: wait(.milliseconds(100) * (1 + Int(input.byte())))
    case 5: wait(.minutes(input.pick(3)))
    case 6: input.isRare(2) ? disconnect(parent) : disconnect(kid)
    case 7: for device in machines.away.sorted() { connect(device) }
    case 8: restart(input.isRare(2) ? parent : kid)
    default: reload()
    }
  }

  private mutating func actAsGuardian(_ device: UInt32, _ input: inout Bytes) {
    switch input.pick(8) {
    case 0: guardian(device, .setLimits(child: Self.child, on: input.byte() & 1 == 1))
    case 1: guardian(device, .withdraw(child: Self.child, input.withdrawal()))
    case 2:
      let handle = input.handle()
      approved.insert(handle.canonical)
      guardian(device, .changeContact(child: Self.child, handle, known: true))
    case 3: guardian(device, .setAge(Self.child, input.ageSettings()))
    case 4: guardian(device, .setAccount(Self.child, input.account()))
    case 5:
      let expires = machines.now + .minutes(10)
      guardian(
        device, .invite(Invitation(key: input.key(), person: input.person(), expires: expires)))
    case 6:
      // The guardian's device removes the member's.
      guard var roster = machines.guardians[device]?.link.roster else { return }
      roster.devices.removeAll { $0.id.rawValue == member }
      guardian(device, .setRoster(roster))
    default: guardian(device, .post(child: Self.child, "good"))
    }
  }

  /// Starts the device again from its records, as its store returns them.
  mutating func restart(_ device: UInt32) {
    let stored = (machines.disks[device] ?? [:]).map { (key: $0.key.bytes, record: $0.value) }
    let records = stored.sorted { $0.key.lexicographicallyPrecedes($1.key) }.map { key, record in
      guard let decoded = try? DeviceRecord.decode(key: key, value: record.value)
      else { fatalError("a stored record cannot be decoded: \(record)") }
      return decoded
    }
    restore(device, records)
    if apps[device] != nil { app(device, .connected) }
    if !machines.away.contains(device) { connect(device) }
  }

  /// The relay starts again from its store.
  mutating func reload() {
    let before = machines.relay.state(of: Self.family)
    machines.relay.evict(Self.family)
    machines.relay.load(
      Self.family, events: machines.log, cursors: [],
      passcodeLock: machines.passcodeLock.flatMap { PasscodeLock(stored: $0) }, now: machines.now)
    precondition(machines.relay.state(of: Self.family) == before, "a reloaded family differs")
  }
}
