import FamilyModel
import FamilyTrust
import Foundation
import RelayStore
import RelayWire
import SQLiteStore

@testable import FamilyCore

/// A family whose stores are golden files.
struct GoldenFamily {
  /// A kind that no version gets.
  static let unknown = OpaqueBody(kind: .max, bytes: [1, 2, 3])

  /// A life with events of many kinds, questions in each phase, and commands in the outbox.
  static func play() -> SignedFamily {
    var home = SignedFamily()
    let approved = home.ask("ada", "ben")
    home.answer(approved, "approve")
    home.answer(home.ask("bob"), "decline", by: 2)
    let cancelled = home.ask("eve")
    home.child(3, .cancel(cancelled))
    home.guardian(1, .post(child: SignedFamily.emily, "Hello"))
    home.child(3, .post("Hi"))
    let number = Handle("+15550100", .phoneNumber)
    home.guardian(1, .changeContact(child: SignedFamily.emily, number, known: true))
    home.guardian(1, .nameContact(child: SignedFamily.emily, number, "Grandma"))
    home.guardian(
      2, .withdraw(child: SignedFamily.emily, .handle(Handle("ben", .custom), in: nil)))
    home.choosePasscode(home.keys[6]!)
    home.inPerson("pa", passcode: home.keys[6]!)
    let id = CommandID(high: UInt64(home.now.milliseconds) << 16, low: 8)
    let audience = Audience.conversation(SignedFamily.emily)
    let signature = home.sign(.opaque(unknown), id, audience, as: 2, basedOnSeq: home.rosterSeq)
    home.request(2, 1, .command(id, .opaque(audience, unknown), signature))
    home.ask("dragonslayer42")
    home.disconnect(3)
    home.ask("maria")
    home.disconnect(1)
    home.guardian(1, .post(child: SignedFamily.emily, "Later"))
    return home
  }

  let folder: URL
  private func file(_ name: String) -> URL { folder.appendingPathComponent(name) }

  // MARK: write

  func write(_ home: SignedFamily) throws {
    try? FileManager.default.removeItem(at: folder)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try writeRelay(home)
    var devices: [Change] = []
    for (device, records) in home.machines.disks {
      for record in records.values {
        devices.append(Change(key: prefix(device) + record.key.bytes, value: record.value))
      }
    }
    try write(devices, "agent.sqlite")
    try write(home.appDisks[3]!.map { Change(key: $0.key, value: $0.value) }, "app.sqlite")
    let keys = home.keys.map { ("\($0)", Golden.Keys($1)) }
    try write(Dictionary(uniqueKeysWithValues: keys), "keys.json")
    try write(Golden.Derived(home), "derived.json")
  }

  private func writeRelay(_ home: SignedFamily) throws {
    let family = SignedFamily.family
    var batch = Batch()
    batch.events = home.machines.log.map { event in
      StoredEvent(
        family: family, seq: event.seq, audience: event.audience, device: event.device,
        command: event.command, at: event.at, payload: event.encode())
    }
    for id: UInt32 in [1, 2, 3, 4] {
      let link = home.children[id]?.link ?? home.guardians[id]!.link
      batch.cursors += link.position.map {
        StoredCursor(family: family, device: DeviceID(id), cursor: $0)
      }
    }
    let state = home.relay.state(of: family)!
    batch.snapshots = [StoredSnapshot(family: family, seq: state.seq, payload: state.snapshot!)]
    let store = try SQLiteEventStore(path: file("relay.sqlite").path)
    try store.commit(batch)
    store.close()
  }

  private func write(_ changes: [Change], _ name: String) throws {
    let store = try SQLiteAgentStore(path: file(name).path)
    try store.apply(changes.sorted { $0.key.lexicographicallyPrecedes($1.key) })
    store.close()
  }

  private func write(_ value: some Encodable, _ name: String) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .prettyPrinted]
    try encoder.encode(value).write(to: file(name))
  }

  // MARK: read

  /// The family, restored by today's code from copies of the files.
  func read() throws -> SignedFamily {
    let copy = FileManager.default.temporaryDirectory.appendingPathComponent(
      "golden-\(UUID().uuidString.prefix(8))")
    try FileManager.default.copyItem(at: folder, to: copy)
    defer { try? FileManager.default.removeItem(at: copy) }
    return try GoldenFamily(folder: copy).open()
  }

  var derived: Golden.Derived {
    get throws {
      try JSONDecoder().decode(Golden.Derived.self, from: Data(contentsOf: file("derived.json")))
    }
  }

  private func open() throws -> SignedFamily {
    let stored = try JSONDecoder().decode(
      [String: Golden.Keys].self, from: Data(contentsOf: file("keys.json")))
    let keys = stored.compactMap { id, keys in
      keys.deviceKeys.flatMap { keys in UInt32(id).map { ($0, keys) } }
    }
    var home = SignedFamily(keys: Dictionary(uniqueKeysWithValues: keys))
    home.questionSeries = 78
    home.appDisks = [:]
    try openRelay(&home)
    home.machines.disks = [:]
    let devices = try SQLiteAgentStore(path: file("agent.sqlite").path)
    for id: UInt32 in [1, 2, 3, 4] {
      let prefix = prefix(id)
      for (key, value) in try devices.load(prefix: prefix) {
        let record = try DeviceRecord.decode(key: Array(key.dropFirst(prefix.count)), value: value)
        home.machines.disks[id, default: [:]][record.key] = record
      }
    }
    devices.close()
    let app = try SQLiteAgentStore(path: file("app.sqlite").path)
    home.appDisks[3] = Dictionary(
      uniqueKeysWithValues: try app.load(prefix: []).map { ($0.key, $0.value) })
    app.close()
    for id: UInt32 in [1, 2, 3, 4] {
      home.machines.away.insert(id)
      home.restore(id)
      // The first step evaluates the events that were newer than the version.
      if home.guardians[id] != nil { home.guardian(id, .started) }
    }
    return home
  }

  private func openRelay(_ home: inout SignedFamily) throws {
    let family = SignedFamily.family
    let store = try SQLiteEventStore(path: file("relay.sqlite").path)
    let stored = try store.load(family)
    home.machines.log = try stored.events.map { try Event.decode($0.payload) }
    store.close()
    home.machines.now = home.machines.log.map(\.at).max()! + .seconds(1)
    home.machines.relay.evict(family)
    home.machines.relay.load(
      family, events: home.machines.log, cursors: stored.cursors.map { ($0.device, $0.cursor) },
      now: home.machines.now)
    home.roster = home.relay.state(of: family)!.roster
  }

  /// Family and device, big-endian.
  private func prefix(_ device: UInt32) -> [UInt8] {
    withUnsafeBytes(of: SignedFamily.family.rawValue.bigEndian) { Array($0) }
      + withUnsafeBytes(of: device.bigEndian) { Array($0) }
  }
}
