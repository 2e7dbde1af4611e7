import FamilyCore
import FamilyModel
import RelayStore
import RelayWire

/// Decodes arbitrary stored records, restores a machine from them, and runs it.
func fuzzRecords(_ bytes: UnsafeRawBufferPointer) {
  var input = Bytes(bytes)
  switch input.byte() % 6 {
  case 0: relay(&input)
  case 1: guardian(&input, nil)
  case 2: child(&input, nil)
  case 3: app(&input)
  case 4: guardian(&input, FuzzVault.security(10))
  default: child(&input, FuzzVault.security(30))
  }
}

private func relay(_ input: inout Bytes) {
  var events: [Event] = []
  while !input.isAtEnd {
    let payload = input.chunk()
    _ = FamilyState(snapshot: payload)
    guard let event = try? Event.decode(payload) else { continue }
    let stored = StoredEvent(
      family: FamilyID(1), seq: event.seq, audience: event.audience, device: event.device,
      command: event.command, at: event.at, payload: payload)
    precondition(stored.checksum == stored.checksum)
    events.append(event)
  }
  var machine = RelayMachine { _, _, _ in true }
  machine.load(FamilyID(1), events: events, cursors: [], now: Instant(milliseconds: 0))
  guard let state = machine.state(of: FamilyID(1)) else { return }
  for device in state.roster.devices {
    let address = DeviceAddress(family: FamilyID(1), device: device.id)
    let attach = RelayMachine.Input.request(
      address, key: device.publicKey, administrator: false, id: 1, .attach([]))
    _ = machine.step(attach, now: Instant(milliseconds: 1))
  }
  _ = machine.step(.timer, now: Instant(milliseconds: 60_000))
}

private func records(_ input: inout Bytes) -> [DeviceRecord] {
  var records: [DeviceRecord] = []
  while !input.isAtEnd {
    let (key, value) = (input.chunk(), input.chunk())
    guard let record = try? DeviceRecord.decode(key: key, value: value) else { continue }
    records.append(record)
  }
  return records
}

private func guardian(_ input: inout Bytes, _ security: Security?) {
  var device = GuardianMachine(
    DeviceAddress(family: FuzzedFamily.id, device: DeviceID(10)), of: PersonID(1),
    security: security, restoring: records(&input), ids: IDSource(seed: 1))
  exercise { device.step([.started, .connected, .timer][$0], now: $1) }
}

private func child(_ input: inout Bytes, _ security: Security?) {
  let address = DeviceAddress(family: FuzzedFamily.id, device: DeviceID(30))
  var device = ChildMachine(
    address, of: PersonID(3), apps: [AppID("a")], security: security, restoring: records(&input),
    ids: IDSource(seed: 1),
    digest: { _, _ in [1] })
  exercise { device.step([.connected, .timer, .disconnected][$0], now: $1) }
}

private func exercise(_ step: (Int, Instant) -> [DeviceEffect]) {
  for (index, at) in [0, 1_000, 100_000].enumerated() {
    write(step(index, Instant(milliseconds: Int64(at))))
  }
}

private func app(_ input: inout Bytes) {
  var records: [AppRecord] = []
  while !input.isAtEnd {
    let (key, value) = (input.chunk(), input.chunk())
    guard let record = try? AppRecord.decode(key: key, value: value) else { continue }
    guard let decoded = try? AppRecord.decode(key: record.key, value: record.value),
      decoded == record
    else { fatalError("an app's record differs after a round trip") }
    records.append(record)
  }
  var machine = AppMachine(AppID("a"), restoring: records)
  _ = machine.step(.connected)
}
