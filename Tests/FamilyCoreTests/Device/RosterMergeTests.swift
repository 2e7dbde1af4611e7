import FamilyModel
import Testing

@testable import FamilyCore

/// The merging of an intended change into the roster of the moment.
@Suite struct RosterMergeTests {
  private func device(_ id: UInt32, _ person: UInt32, key: UInt8) -> Device {
    Device(
      id: DeviceID(id), person: PersonID(person), publicKey: [],
      signingKey: Array(repeating: key, count: 32))
  }

  private func person(_ id: UInt32, _ name: String) -> Person {
    Person(id: PersonID(id), role: .child, displayName: name)
  }

  /// A device's view of a family with this roster.
  private func view(_ roster: Roster) -> FamilyProjection {
    var family = FamilyProjection()
    family.apply(
      Event(
        seq: 1, previous: 0, audience: .family, command: CommandID(high: 1, low: 1),
        device: DeviceID(1), at: Instant(milliseconds: 0), body: .rosterChanged(roster)))
    return family
  }

  @Test("T4: an addition that the roster of the moment has already is not repeated")
  func repeated() {
    let base = Roster(persons: [person(1, "Rosa")], devices: [device(1, 1, key: 1)])
    var next = base
    next.persons.append(person(2, "Emily"))
    next.devices.append(device(2, 1, key: 2))
    var present = next
    present.persons.append(person(3, "Ben"))
    #expect(view(present).roster(applying: base, next) == present)
    // The same device under another number is no addition either.
    present.devices[1].id = DeviceID(7)
    #expect(view(present).roster(applying: base, next) == present)
  }

  @Test("T4: another addition gets a new number if the roster of the moment has its number")
  func taken() {
    let base = Roster(persons: [person(1, "Rosa")], devices: [device(1, 1, key: 1)])
    var (next, present) = (base, base)
    next.persons.append(person(2, "Emily"))
    next.devices.append(device(2, 2, key: 2))
    present.persons.append(person(2, "Ben"))
    present.devices.append(device(2, 2, key: 3))
    let merged = view(present).roster(applying: base, next)
    #expect(merged.persons.map(\.displayName) == ["Rosa", "Ben", "Emily"])
    #expect(merged.devices.map(\.person) == [1, 2, 3].map { PersonID($0) })
    #expect(merged.devices.map(\.id) == [1, 2, 3].map { DeviceID($0) })
  }
}
