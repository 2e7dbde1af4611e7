import FamilyModel

extension Bool: Packable {
  func pack(_ packer: inout Packer) { packer.add(self) }
  init(_ packed: inout Unpacker) { self = packed.bool() }
}

extension String: Packable {
  func pack(_ packer: inout Packer) { packer.add(self) }
  init(_ packed: inout Unpacker) { self = packed.text() }
}

extension AppID: Packable {
  func pack(_ packer: inout Packer) { packer.add(rawValue) }
  init(_ packed: inout Unpacker) { self.init(packed.text()) }
}

extension Handle: Packable {
  func pack(_ packer: inout Packer) {
    packer.add(UInt64(kind.rawValue))
    packer.add(value)
  }
  init(_ packed: inout Unpacker) {
    let kind = packed.raw(Kind.init) ?? .custom
    self.init(packed.text(), kind)
  }
}

extension CommandName: Packable {
  func pack(_ packer: inout Packer) {
    packer.add(device)
    packer.add(id)
  }
  init(_ packed: inout Unpacker) {
    let device = packed.value() as DeviceID
    self.init(device, packed.value())
  }
}

extension ChoiceHeader: Packable {
  func pack(_ packer: inout Packer) {
    packer.add(id)
    packer.add(UInt64(answer.rawValue))
  }
  init(_ packed: inout Unpacker) {
    let id = packed.text()
    self.init(id: id, answer: packed.raw(Answer.init) ?? .denial)
  }
}

extension Receipt: Packable {
  func pack(_ packer: inout Packer) {
    packer.add(delivered)
    packer.add(read)
  }
  init(_ packed: inout Unpacker) {
    let delivered = packed.number()
    self.init(delivered: delivered, read: packed.number())
  }
}

extension Account.Day: Packable {
  func pack(_ packer: inout Packer) {
    packer.add(UInt64(UInt32(bitPattern: year)))
    packer.add(UInt64(month))
    packer.add(UInt64(day))
  }
  init(_ packed: inout Unpacker) {
    let year = Int32(bitPattern: packed.value() as UInt32)
    let month = UInt8(truncatingIfNeeded: packed.number())
    self.init(year: year, month: month, day: UInt8(truncatingIfNeeded: packed.number()))
  }
}

extension ListedApp: Packable {
  func pack(_ packer: inout Packer) {
    packer.add(app)
    packer.add(name)
    packer.add(rating.map { UInt64($0.rawValue) })
    packer.add(frameworks.rawValue)
  }
  init(_ packed: inout Unpacker) {
    let app = packed.value() as AppID
    let name = packed.value() as String?
    let rating = (packed.value() as UInt64?).flatMap {
      AgeRating(rawValue: UInt8(truncatingIfNeeded: $0))
    }
    self.init(
      app: app, name: name, rating: rating, frameworks: AppFrameworks(rawValue: packed.value()))
  }
}

extension Withdrawal: Packable {
  func pack(_ packer: inout Packer) {
    switch self {
    case .handle(let handle, let app):
      packer.add(0 as UInt64)
      packer.add(handle)
      packer.add(app)
    case .consent(let app):
      packer.add(1 as UInt64)
      packer.add(app)
    case .consentGiven(let app):
      packer.add(2 as UInt64)
      packer.add(app)
    }
  }
  init(_ packed: inout Unpacker) {
    switch packed.number() {
    case 0:
      let handle = packed.value() as Handle
      self = .handle(handle, in: packed.value())
    case 1: self = .consent(packed.value())
    case 2: self = .consentGiven(packed.value())
    default:
      packed.fail()
      self = .consent(AppID(""))
    }
  }
}

extension Unpacker {
  /// Reads an enum by its raw value; another number sets `hasFailed`.
  mutating func raw<Value>(_ make: (UInt8) -> Value?) -> Value? {
    let value = make(UInt8(truncatingIfNeeded: number()))
    if value == nil { fail() }
    return value
  }
}

extension Packer {
  /// Adds the number of a case and its values.
  mutating func add<each Value: Packable>(_ number: UInt64, _ values: repeat each Value) {
    add(number)
    repeat add(each values)
  }
}
