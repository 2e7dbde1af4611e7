import FamilyModel

extension Line: Packable {
  func pack(_ packer: inout Packer) {
    packer.add(seq)
    packer.add(command)
    packer.add(device)
    packer.add(at)
    packer.add(body)
  }
  init(_ packed: inout Unpacker) {
    let seq = packed.number()
    let command = packed.value() as CommandID
    let device = packed.value() as DeviceID
    let at = packed.value() as Instant
    self.init(seq: seq, command: command, device: device, at: at, body: packed.value())
  }
}

extension Line.Body: Packable {
  func pack(_ packer: inout Packer) {
    switch self {
    case .question(let id): packer.add(0, id)
    case .text(let text): packer.add(1, text)
    case .reminder(let id): packer.add(2, id)
    case .decision(let id, let choice):
      packer.add(3, id)
      packer.add(choice)
    case .cancellation(let id): packer.add(4, id)
    case .inPerson(let id, let choice):
      packer.add(5, id)
      packer.add(choice)
    case .withdrawal(let what): packer.add(6, what)
    case .newer: packer.add(7 as UInt64)
    }
  }
  init(_ packed: inout Unpacker) {
    switch packed.number() {
    case 0: self = .question(packed.value())
    case 1: self = .text(packed.text())
    case 2: self = .reminder(packed.value())
    case 3:
      let id = packed.value() as QuestionID
      self = .decision(id, packed.value())
    case 4: self = .cancellation(packed.value())
    case 5:
      let id = packed.value() as QuestionID
      self = .inPerson(id, packed.value())
    case 6: self = .withdrawal(packed.value())
    case 7: self = .newer
    default:
      packed.fail()
      self = .text("")
    }
  }
}

extension Conversation: Packable {
  func pack(_ packer: inout Packer) {
    packer.add(lines)
    packer.add(questions)
    packer.add(limits)
    packer.add(known)
    packer.add(consents)
    packer.add(origins)
    packer.add(names)
    packer.add(receipt)
  }
  init(_ packed: inout Unpacker) {
    self.init()
    lines = packed.value()
    questions = packed.value()
    limits = packed.value()
    known = packed.value()
    consents = packed.value()
    origins = packed.value()
    names = packed.value()
    receipt = packed.value()
  }
}

extension Conversation.Origin: Packable {
  func pack(_ packer: inout Packer) {
    packer.add(kind.rawValue)
    packer.add(seq)
    packer.add(device)
    packer.add(at)
  }
  init(_ packed: inout Unpacker) {
    let kind = Kind(rawValue: packed.number())
    if kind == nil { packed.fail() }
    let seq = packed.number()
    let device = packed.value() as DeviceID
    self.init(kind: kind ?? .contact, seq: seq, device: device, at: packed.value())
  }
}

extension Consents: Packable {
  func pack(_ packer: inout Packer) { packer.add(statements) }
  init(_ packed: inout Unpacker) {
    self.init()
    statements = packed.value()
  }
}

extension KnownStatement.Change: Packable {
  func pack(_ packer: inout Packer) {
    packer.add(isKnown)
    packer.add(until)
  }
  init(_ packed: inout Unpacker) {
    let isKnown = packed.bool()
    self.init(isKnown: isKnown, until: packed.value())
  }
}

/// Without the latest time, which is a record of its own.
extension KnownHandles: Packable {
  func pack(_ packer: inout Packer) {
    packer.add(contactChanges)
    packer.add(approvedChanges)
    packer.add(approvedInChanges)
    packer.add(limitedChanges)
    packer.add(limitedInChanges)
    packer.add(hasLimits)
    packer.add(withdrawnEverywhere)
  }
  init(_ packed: inout Unpacker) {
    self.init()
    contactChanges = packed.value()
    approvedChanges = packed.value()
    approvedInChanges = packed.value()
    limitedChanges = packed.value()
    limitedInChanges = packed.value()
    hasLimits = packed.bool()
    withdrawnEverywhere = packed.value()
  }
}
