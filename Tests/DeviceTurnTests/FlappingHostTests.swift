import FamilyCore
import FamilyModel
import RelayWire
import Testing
import ZeroMQ

@testable import DeviceTurn

/// A host whose connection to the relay flaps.
///
/// Scale: 20 devices. Each flap disconnects every device.
@Suite struct FlappingHostTests {
  private static let devices: UInt64 = 20
  private let key = [UInt8](repeating: 7, count: 32)
  private let host: DeviceHost

  init() {
    host = DeviceHost(
      clock: HostClock(
        wall: { Instant(milliseconds: 1_000_000) },
        monotonic: { .machineStart + .seconds(100) }))
    for family in 1...Self.devices {
      let address = DeviceAddress(family: FamilyID(family), device: DeviceID(30))
      let machine = ChildMachine(
        address, of: PersonID(3), apps: [], ids: IDSource(seed: family))
      host.add(HostedDevice(machine, key: key))
    }
  }

  private func flap() {
    host.connectionChanged(.connected, of: key)
    host.connectionChanged(.connecting, of: key)
  }

  /// The families whose devices request to attach in one turn.
  private func attachments() -> [UInt64] {
    host.beginTurn()
    var families: [UInt64] = []
    while let batch = host.nextBatch() {
      for case .send(let envelope, _) in batch.effects {
        if case .attach = envelope.request { families.append(envelope.device.family.rawValue) }
      }
    }
    return families
  }

  @Test("O8: after 1,000 flaps of a connection each of its devices attaches once")
  func flaps() {
    for _ in 0..<1_000 { flap() }
    #expect(attachments().isEmpty)
    for _ in 0..<1_000 { flap() }
    host.connectionChanged(.connected, of: key)
    #expect(attachments().sorted() == Array(1...Self.devices))
    #expect(attachments().isEmpty)
  }

  @Test("O8: each device attaches once in each period of a connection that flaps, and at once")
  func periods() {
    for _ in 0..<100 {
      host.connectionChanged(.connected, of: key)
      #expect(attachments().sorted() == Array(1...Self.devices))
      #expect(attachments().isEmpty)
      host.connectionChanged(.connecting, of: key)
      #expect(attachments().isEmpty)
    }
  }
}
