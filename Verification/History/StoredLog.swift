import FamilyModel

/// The relay's stored log at the end of a run, by family.
struct StoredLog {
  private(set) var families: [FamilyID: [Event]] = [:]
  private(set) var isRead = false
  private var forged: Set<Forgery> = []
  /// The events that honest devices count, of the audiences for which the history records them.
  private var verified: [FamilyID: [Audience: Set<UInt64>]] = [:]
  /// The honest devices of the families with a dishonest member.
  private var honest: [FamilyID: Set<DeviceAddress>] = [:]

  private struct Forgery: Hashable {
    var device: DeviceAddress
    var command: CommandID
    var signature: [UInt8]
  }

  init(_ history: History) {
    for (_, fact) in history.facts {
      switch fact {
      case .stored(let family, let event): families[family, default: []].append(event)
      case .storeRead: isRead = true
      case .forged(let device, let command, let signature):
        forged.insert(Forgery(device: device, command: command, signature: signature))
      case .verified(let device, let audience, let seqs):
        verified[device.family, default: [:]][audience, default: []].formUnion(seqs)
        honest[device.family, default: []].insert(device)
      case .dishonest(let device): honest[device.family, default: []].formUnion([])
      default: break
      }
    }
  }

  func events(_ family: FamilyID) -> [Event] { families[family] ?? [] }

  /// The events that readers may count: all but those that a dishonest member forged, or that no
  /// honest device counts.
  func counted(_ family: FamilyID) -> [Event] {
    guard !forged.isEmpty || !verified.isEmpty else { return events(family) }
    return events(family).filter { event in
      !isForged(event, in: family)
        && verified[family]?[event.audience].map { $0.contains(event.seq) } ?? true
    }
  }

  /// Whether a dishonest device sent the event as one that must not count.
  func isForged(_ event: Event, in family: FamilyID) -> Bool {
    let address = DeviceAddress(family: family, device: event.device)
    return forged.contains(
      Forgery(
        device: address, command: event.command, signature: event.signature?.bytes ?? []))
  }

  /// Whether the final state of the device is to be judged: a dishonest member of its family did not
  /// take its place.
  func isJudged(_ device: DeviceAddress) -> Bool {
    honest[device.family].map { $0.contains(device) } ?? true
  }

  /// The event with this sequence number. A log without gaps holds it at index `seq - 1`.
  func event(_ family: FamilyID, _ seq: UInt64) -> Event? {
    let events = events(family)
    guard seq >= 1, seq <= UInt64(events.count), events[Int(seq) - 1].seq == seq else {
      return events.first { $0.seq == seq }
    }
    return events[Int(seq) - 1]
  }

  /// The sequence numbers of each audience's events, in order.
  func chains(_ family: FamilyID) -> [Audience: [UInt64]] {
    var chains: [Audience: [UInt64]] = [:]
    for event in events(family) { chains[event.audience, default: []].append(event.seq) }
    return chains
  }

  /// The rosters with the sequence numbers from which they apply, in order.
  func rosters(_ family: FamilyID) -> [(seq: UInt64, roster: Roster)] {
    events(family).compactMap { event in
      if case .rosterChanged(let roster) = event.body { (event.seq, roster) } else { nil }
    }
  }
}
