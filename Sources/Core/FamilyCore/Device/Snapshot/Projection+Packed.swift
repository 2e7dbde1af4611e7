import FamilyModel

extension FamilyProjection: Packable {
  func pack(_ packer: inout Packer) {
    packer.add(roster)
    packer.add(newDevices)
    packer.add(accounts)
    packer.add(ages)
    packer.add(apps)
    packer.add(conversations)
    packer.add(joins)
    packer.add(passcodes)
    packer.add(owners)
    packer.add(formerPersons)
    packer.add(accountsMade)
    packer.add(UInt64(newer))
    packer.add(accountStatements)
    packer.add(settings)
  }
  init(_ packed: inout Unpacker) {
    self.init()
    roster = packed.value()
    newDevices = packed.value()
    accounts = packed.value()
    ages = packed.value()
    apps = packed.value()
    conversations = packed.value()
    joins = packed.value()
    passcodes = packed.value()
    owners = packed.value()
    formerPersons = packed.value()
    accountsMade = packed.value()
    newer = Int(clamping: packed.number())
    accountStatements = packed.value()
    settings = packed.value()
  }
}

/// The entries in order. The state is computed from them.
extension AgeLog: Packable {
  func pack(_ packer: inout Packer) {
    packer.add(UInt64(entries.count))
    for (order, entry) in entries {
      packer.add(order)
      packer.add(entry)
    }
  }
  init(_ packed: inout Unpacker) {
    self.init()
    for _ in 0..<packed.count() {
      let order = packed.value() as StatementOrder
      append(packed.value(), order)
    }
  }
}

extension AgeLog.Entry: Packable {
  func pack(_ packer: inout Packer) {
    switch self {
    case .record(let content):
      packer.add(0 as UInt64)
      packer.add(content)
    case .set(let content, let byChild):
      packer.add(byChild ? 2 : 1 as UInt64)
      packer.add(content)
    case .born(let day):
      packer.add(3 as UInt64)
      packer.add(day)
    }
  }
  init(_ packed: inout Unpacker) {
    switch packed.number() {
    case 0: self = .record(packed.value())
    case 1: self = .set(packed.value(), byChild: false)
    case 2: self = .set(packed.value(), byChild: true)
    case 3: self = .born(packed.value())
    default:
      packed.fail()
      self = .record(.sealed([]))
    }
  }
}

extension AppLists: Packable {
  func pack(_ packer: inout Packer) { packer.add(lists) }
  init(_ packed: inout Unpacker) {
    self.init()
    lists = packed.value()
  }
}

extension AppLists.DeviceList: Packable {
  func pack(_ packer: inout Packer) {
    packer.add(stamp)
    packer.add(apps)
  }
  init(_ packed: inout Unpacker) {
    let stamp = packed.value() as ID128
    self.init(stamp: stamp, apps: packed.value())
  }
}

extension ChildApp: Packable {
  func pack(_ packer: inout Packer) {
    packer.add(device)
    packer.add(listed)
    packer.add(since)
    packer.add(ratedSince)
  }
  init(_ packed: inout Unpacker) {
    let device = packed.value() as DeviceID
    let listed = packed.value() as ListedApp
    let since = packed.value() as Instant
    self.init(device: device, listed: listed, since: since, ratedSince: packed.value())
  }
}
