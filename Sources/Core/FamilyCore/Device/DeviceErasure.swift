package import FamilyModel

/// The erasure of contents from the records of a device, by the rule of ``ErasurePlan``.
///
/// An event whose content readers may lack keeps its record without the content. Other events of a
/// removed person leave their positions only. Reports of the person's use of the web are deleted.
package enum DeviceErasure {
  /// The changes that erase contents.
  ///
  /// - Parameters:
  ///   - records: All records of the device; the snapshot may be left out.
  ///   - end: The last moment of an end that is long enough ago.
  package static func changes(
    of records: [DeviceRecord], in family: FamilyID, endedBy end: Instant,
    digest: ([UInt8]) -> [UInt8]
  ) -> [RecordChange] {
    var events: [Event] = []
    for case .event(let event) in records { events.append(event) }
    events.sort { $0.seq < $1.seq }
    let removed = removedPersons(events)
    var plan = ErasurePlan(endedBy: end, persons: removed.isEmpty ? [:] : [family: removed])
    var positions: [Int] = []
    for (position, event) in events.enumerated() {
      positions += plan.add(event, of: family, at: position)
    }
    let contents = (positions + plan.finish()).flatMap { position -> [RecordChange] in
      let event = events[position]
      guard event.body.mayBeErased else {
        return event.passing
      }
      return event.erasingContent(digest: digest).map { [.put(.event($0))] } ?? []
    }
    let changes = contents + webReports(of: removed, in: records)
    // The snapshot has open contents. The next start makes another one.
    return changes.isEmpty ? [] : changes + [.delete(.snapshot)]
  }

  /// The deletions of the persons' reports of the use of the web.
  private static func webReports(
    of persons: Set<PersonID>, in records: [DeviceRecord]
  ) -> [RecordChange] {
    records.compactMap { record in
      guard case .webReport(let person, let device, let report) = record, persons.contains(person)
      else { return nil }
      return .delete(.webReport(person, device, report.day.day))
    }
  }

  /// The persons of earlier rosters whom the newest one lacks.
  private static func removedPersons(_ events: [Event]) -> Set<PersonID> {
    var (all, newest): (Set<PersonID>, Set<PersonID>) = ([], [])
    for case .rosterChanged(let roster) in events.lazy.map(\.body) {
      newest = Set(roster.persons.map(\.id))
      all.formUnion(newest)
    }
    return all.subtracting(newest)
  }
}
