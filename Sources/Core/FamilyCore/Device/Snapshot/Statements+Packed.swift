import FamilyModel

/// The entries in order. Their commands name the subjects.
extension OwnStatements: Packable {
  func pack(_ packer: inout Packer) {
    packer.add(entries.values.sorted { $0.order < $1.order })
    packer.add(next)
  }
  init(_ packed: inout Unpacker) {
    self.init()
    for entry in packed.value() as [Entry] {
      entries[entry.id] = entry
      if let subject = Self.subject(of: entry.command) { newest[subject] = entry.id }
    }
    next = packed.number()
  }

  /// The subject of a statement's command.
  private static func subject(of command: Command) -> Subject? {
    switch command {
    case .setLimits(let child, let on): subject(of: .limitsChanged(child: child, on: on))
    case .setAccount(let person, let content): subject(of: .accountChanged(person, content))
    case .ask(let header, _): .question(header.id)
    case .cancel(let id): .question(id)
    case .answer(let id, _): .answer(id)
    case .changeContact(let child, let content):
      subject(of: .contactChanged(child: child, content))
    case .withdraw(let child, let content): subject(of: .withdrawn(child: child, content))
    case .setPasscode: .passcode
    case .invite(let invitation): .invitation(invitation.key)
    case .noteAge(let person, let content): subject(of: .ageNoted(person, content))
    case .setAge(let person, let content, let proof):
      subject(of: .ageSet(person, content, proof: proof))
    case .changeSettings(let person, let content, let proof):
      subject(of: .settingsChanged(person, content, proof: proof))
    default: nil
    }
  }
}

extension OwnStatements.Entry: Packable {
  func pack(_ packer: inout Packer) {
    packer.add(id)
    packer.add(audience)
    packer.add(command)
    packer.add(seq)
    packer.add(order)
  }
  init(_ packed: inout Unpacker) {
    let id = packed.value() as CommandID
    let audience = packed.value() as Audience
    let command = packed.value() as Command
    let seq = packed.value() as UInt64?
    self.init(id: id, audience: audience, command: command, seq: seq, order: packed.number())
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
