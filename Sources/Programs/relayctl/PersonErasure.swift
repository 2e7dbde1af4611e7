import ArgumentParser
import FamilyCore
import FamilyModel
import FamilyTrust
import RelayStore
import RelayWire
import SQLiteStore

/// A person of a family as a command-line value: `FAMILY:PERSON`.
struct PersonName: ExpressibleByArgument {
  let family: FamilyID
  let person: PersonID

  init?(argument: String) {
    let parts = argument.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 2, let family = UInt64(parts[0]), let person = UInt32(parts[1]) else {
      return nil
    }
    (self.family, self.person) = (FamilyID(family), PersonID(person))
  }
}

/// The erasure of removed persons' contents from a relay's store.
struct PersonErasure {
  private let positions: Set<Int>
  /// The number of contents that are erased.
  var count: Int { positions.count }

  /// Finds the contents of these persons.
  ///
  /// - Throws: `ControlError` if a person is a member still, or never was one.
  init(of names: [PersonName], in store: StoreSalvage) throws {
    guard !names.isEmpty else {
      positions = []
      return
    }
    let persons = Dictionary(grouping: names, by: \.family).mapValues { Set($0.map(\.person)) }
    var plan = ErasurePlan(persons: persons)
    var positions: Set<Int> = []
    _ = try store.run { number, stored in
      guard let event = try? Event.decode(stored.payload) else { return stored }
      for position in plan.add(event, of: stored.family, at: number)
      where event.body.isErased == false {
        positions.insert(position)
      }
      return stored
    }
    for (family, persons) in plan.membersOrUnknown {
      let list = persons.map { "\($0.rawValue)" }.sorted().joined(separator: ", ")
      throw ControlError(
        "Family \(family.rawValue) has, or never had, person \(list). Remove the person first: "
          + "relayctl remove-member.")
    }
    self.positions = positions
  }

  /// The event that the copy receives.
  func erased(_ number: Int, _ stored: StoredEvent) -> StoredEvent {
    guard positions.contains(number),
      let payload = Event.erasingContent(ofPayload: stored.payload)
    else { return stored }
    var event = stored
    event.payload = payload
    return event
  }
}
