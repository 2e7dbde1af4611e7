public import FamilyModel

/// A person's age settings, and the age answers of each app.
///
/// The state is derived from the person's log, so all devices of the person agree.
public struct AgeState: Hashable, Sendable {
  /// The age settings.
  public private(set) var settings = AgeSettings()
  /// The age answers of each app.
  public private(set) var memories: [AppID: AgeMemory] = [:]
  /// Creates a state with default settings and no answers.
  public init() {}

  /// The apps with age answers, in order.
  public var apps: [AppID] { memories.keys.sorted() }

  /// The app's age answers.
  public func memory(_ app: AppID) -> AgeMemory { memories[app] ?? AgeMemory() }

  /// Records an age answer, or deletes the answers of an app.
  mutating func record(_ content: Content) {
    guard case .ageMemory(let app, let answer) = content else { return }
    guard let answer else { return memories[app] = nil }
    memories[app, default: AgeMemory()].add(answer)
  }

  /// Sets the settings, or deletes the answers of an app.
  mutating func set(_ content: Content) {
    switch content {
    case .ageSettings(let new): settings = new
    case .ageMemory(let app, nil): memories[app] = nil
    default: break
    }
  }

  /// Deletes the answers that a corrected birthdate makes false.
  mutating func corrected(_ birthdate: Account.Day) {
    for app in apps where !memories[app]!.isTrue(born: birthdate) { memories[app] = nil }
  }
}

/// The events behind an ``AgeState``, in the order of the person's log.
///
/// An event that was deferred for a key arrives late. Two devices of one person must still agree,
/// so a late event is inserted by its sequence number and the state is computed again.
struct AgeLog: Sendable {
  enum Entry: Hashable, Sendable {
    case record(Content)
    case set(Content)
    case born(Account.Day)
  }

  private(set) var state = AgeState()
  private var entries: [(seq: UInt64, entry: Entry)] = []
  private var born: Account.Day?

  mutating func add(_ event: Event, _ entry: Entry) {
    let isLast = entries.last.map { $0.seq < event.seq } ?? true
    let index = entries.firstIndex { $0.seq > event.seq } ?? entries.count
    entries.insert((event.seq, entry), at: index)
    guard !isLast else { return apply(entry) }
    state = AgeState()
    born = nil
    for (_, entry) in entries { apply(entry) }
  }

  private mutating func apply(_ entry: Entry) {
    switch entry {
    case .record(let content): state.record(content)
    case .set(let content): state.set(content)
    case .born(let day):
      if day != born { state.corrected(day) }
      born = day
    }
  }
}
