import FamilyModel

/// The messages about the use of the web that the device has not stored.
///
/// - *Added* → (the device is attached, and has stored all former messages) *sent* → (the device has stored
///   it) *removed*.
///
/// One message is in flight, because a device may drop any message of an app that it refuses. Each attachment
/// and each further time of pages send the message again. The numbers ascend, also over restarts of the app,
/// so that the device counts none twice. Deletions are durable. The time of pages is not: a kill of the app
/// loses the time that the device has not stored.
struct WebUseQueue: Sendable {
  enum Message: Hashable, Sendable {
    case pages(ShownPages)
    case deletion(WebHistoryPart)
  }

  struct Entry: Sendable {
    var number: UInt64
    var message: Message
    var isSent = false

    var request: AppRequest {
      switch message {
      case .pages(let pages): .useWeb(number, pages)
      case .deletion(let part): .deleteWebUse(number, part)
      }
    }

    var record: AppRecord? {
      if case .deletion(let part) = message { .webDeletion(number, part) } else { nil }
    }
  }

  /// Ascending by number.
  private(set) var entries: [Entry] = []
  private var last: UInt64 = 0

  private mutating func nextNumber(at now: Instant) -> UInt64 {
    // A device may have confirmed the highest number.
    last = max(last == .max ? last : last + 1, UInt64(clamping: now.milliseconds))
    return last
  }

  /// Adds time to the last message if that one is not sent, and otherwise a message. Above
  /// ``Limits/webUseMessages`` the time is lost.
  mutating func add(_ pages: ShownPages, at now: Instant) {
    if let last = entries.indices.last, !entries[last].isSent,
      case .pages(var waiting) = entries[last].message
    {
      waiting.add(pages)
      entries[last].message = .pages(waiting)
    } else if entries.count < Limits.webUseMessages {
      entries.append(Entry(number: nextNumber(at: now), message: .pages(pages)))
    }
  }

  /// Adds a deletion. Above ``Limits/webUseMessages`` one deletion of everything replaces all messages.
  ///
  /// - Returns: The changes of durable state.
  mutating func delete(_ part: WebHistoryPart, at now: Instant) -> [AppRecordChange] {
    var (part, changes) = (part, [AppRecordChange]())
    if entries.count >= Limits.webUseMessages {
      changes = entries.compactMap(\.record).map { .remove($0) }
      entries = []
      part = .all
    }
    let entry = Entry(number: nextNumber(at: now), message: .deletion(part))
    entries.append(entry)
    return changes + [.put(entry.record!)]
  }

  mutating func restore(_ part: WebHistoryPart, _ number: UInt64) {
    entries.append(Entry(number: number, message: .deletion(part)))
    entries.sort { $0.number < $1.number }
    last = max(last, number)
  }

  /// The first message, unless it is in flight.
  ///
  /// - Parameter again: Whether the message is sent again if it is in flight.
  mutating func request(again: Bool) -> AppRequest? {
    guard let first = entries.first, again || !first.isSent else { return nil }
    entries[0].isSent = true
    return first.request
  }

  /// Removes the message that the device has stored.
  ///
  /// A device whose last number is higher has not stored the message: the app's clock was set back over a
  /// restart, say. All messages then get higher numbers.
  ///
  /// - Parameter number: The number of the last message that the device has stored.
  /// - Returns: The changes of durable state.
  mutating func remove(through number: UInt64) -> [AppRecordChange] {
    last = max(last, number)
    guard let first = entries.first, first.isSent, first.number <= number else { return [] }
    guard first.number < number else {
      entries.removeFirst()
      return first.record.map { [.remove($0)] } ?? []
    }
    var changes: [AppRecordChange] = []
    for index in entries.indices {
      if let record = entries[index].record { changes.append(.remove(record)) }
      entries[index].number = nextNumber(at: Instant(milliseconds: 0))
      entries[index].isSent = false
    }
    return changes + entries.compactMap(\.record).map { .put($0) }
  }

  /// Removes the time of pages, which a device of an earlier version does not count.
  mutating func removePages() {
    entries.removeAll { if case .pages = $0.message { true } else { false } }
  }
}

extension AppMachine {
  /// Reports for how long the app has shown pages, if rules restrict the web.
  mutating func useWeb(_ pages: ShownPages, at now: Instant) -> [Effect] {
    guard isWebRestricted == true else { return [] }
    webUses.add(pages, at: now)
    return sendWebUse(again: true)
  }

  /// Deletes a part of what the app has reported.
  mutating func deleteWebUse(_ part: WebHistoryPart, at now: Instant) -> [Effect] {
    [.persist(webUses.delete(part, at: now))] + sendWebUse()
  }

  mutating func sendWebUse(again: Bool = false) -> [Effect] {
    guard isConnected, isAttached, let request = webUses.request(again: again) else { return [] }
    return [.send(request)]
  }

  mutating func webUsed(_ number: UInt64) -> [Effect] {
    let changes = webUses.remove(through: number)
    return (changes.isEmpty ? [] : [.persist(changes)]) + sendWebUse()
  }
}
