import FamilyModel

/// The entries in order, and the newest one of each subject.
extension OwnStatements: Packable {
  func pack(_ packer: inout Packer) {
    packer.add(UInt64(entries.count))
    for entry in entries.values.sorted(by: { $0.order < $1.order }) {
      packer.add(entry.id)
      packer.add(entry.audience)
      packer.add(entry.form.bytes(packer.coding))
      packer.add(entry.seq)
      packer.add(entry.order)
      packer.add(entry.takesPermission)
    }
    packer.add(newest)
    packer.add(next)
  }
  init(_ packed: inout Unpacker) {
    self.init()
    let count = packed.count()
    entries.reserveCapacity(count)
    for _ in 0..<count {
      let id = packed.value() as CommandID
      let audience = packed.value() as Audience
      let form = Entry.Form.packed(packed.array())
      let seq = packed.value() as UInt64?
      let order = packed.number()
      entries[id] = Entry(
        id: id, audience: audience, form: form, seq: seq, order: order,
        takesPermission: packed.bool())
    }
    newest = packed.value()
    next = packed.number()
    coding = packed.coding
  }
}

extension OwnStatements.Subject: Packable {
  func pack(_ packer: inout Packer) {
    switch self {
    case .limits(let child): packer.add(0, child)
    case .account(let person): packer.add(1, person)
    case .contact(let child, let handle): packer.add(2, child, handle)
    case .contactName(let child, let handle): packer.add(3, child, handle)
    case .handle(let child, let handle, let app):
      packer.add(4, child, handle)
      packer.add(app)
    case .consent(let child, let app): packer.add(5, child, app)
    case .question(let id): packer.add(6, id)
    case .answer(let id): packer.add(7, id)
    case .passcode: packer.add(8 as UInt64)
    case .invitation(let key):
      packer.add(9 as UInt64)
      packer.add(key)
    case .apps(let person): packer.add(10, person)
    case .ageSettings(let person): packer.add(11, person)
    case .ageMemory(let person, let app): packer.add(12, person, app)
    case .webRules(let child): packer.add(13, child)
    case .communicationSafety(let child): packer.add(14, child)
    case .webUseDeletion(let child, let site): packer.add(15, child, site?.name)
    }
  }

  init(_ packed: inout Unpacker) {
    let kind = packed.number()
    switch kind {
    case 6: self = .question(packed.value())
    case 7: self = .answer(packed.value())
    case 8: self = .passcode
    case 9: self = .invitation(packed.array())
    default: self = Self.about(packed.value(), kind, &packed)
    }
  }

  /// Reads a subject about a person.
  private static func about(_ person: PersonID, _ kind: UInt64, _ packed: inout Unpacker) -> Self {
    switch kind {
    case 0: return .limits(person)
    case 1: return .account(person)
    case 2: return .contact(person, packed.value())
    case 3: return .contactName(person, packed.value())
    case 4:
      let handle = packed.value() as Handle
      return .handle(person, handle, packed.value())
    case 5: return .consent(person, packed.value())
    case 10: return .apps(person)
    case 11: return .ageSettings(person)
    case 12: return .ageMemory(person, packed.value())
    case 13: return .webRules(person)
    case 14: return .communicationSafety(person)
    case 15: return .webUseDeletion(person, (packed.value() as String?).flatMap(Site.init))
    default:
      packed.fail()
      return .passcode
    }
  }
}

/// Of a device that has no lost event.
extension KeptEvents: Packable {
  func pack(_ packer: inout Packer) {
    packer.add(UInt64(entries.count))
    for entry in entries.values.sorted(by: { $0.order < $1.order }) {
      packer.add(entry.event)
      packer.add(entry.order)
    }
    packer.add(next)
  }
  init(_ packed: inout Unpacker) {
    self.init()
    for _ in 0..<packed.count() {
      let event = packed.value() as Event
      let entry = Entry(event: event, order: packed.number())
      if let name = event.commandName { entries[name] = entry } else { packed.fail() }
    }
    next = packed.number()
  }
}

/// The statements of guardians' devices, without this device's own waits.
extension DeviceLink.Hearing: Packable {
  func pack(_ packer: inout Packer) {
    packer.add(newest)
    packer.add(newestOfOthers)
    packer.add(named)
  }
  init(_ packed: inout Unpacker) {
    self.init()
    newest = packed.value()
    newestOfOthers = packed.value()
    named = packed.value()
  }
}
