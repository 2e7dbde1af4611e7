public import FamilyModel

/// What the person's devices have in common about age: settings, and what each app was told (D10).
///
/// It is derived from the person's log, so all devices come to the same.
public struct AgeState: Hashable, Sendable {
  /// What is set.
  public private(set) var settings = AgeSettings()
  /// What each app was told.
  public private(set) var memories: [AppID: AgeMemory] = [:]
  /// Nothing is set, and nothing was told.
  public init() {}

  /// The apps that were told something, in order.
  public var apps: [AppID] { memories.keys.sorted() }

  /// What the app was told.
  public func memory(_ app: AppID) -> AgeMemory { memories[app] ?? AgeMemory() }

  /// Takes what a device of the person noted: a memory, and nothing else.
  mutating func note(_ content: Content) {
    guard case .ageMemory(let app, let answer) = content else { return }
    guard let answer else { return memories[app] = nil }
    memories[app, default: AgeMemory()].note(answer)
  }

  /// Takes what somebody set who may: settings, or that a memory is forgotten.
  mutating func set(_ content: Content) {
    switch content {
    case .ageSettings(let new): settings = new
    case .ageMemory(let app, nil): memories[app] = nil
    default: break
    }
  }

  /// The birthdate is another one: what apps were told of the old one is forgotten where it is not true any
  /// more, and stays where it is.
  mutating func corrected(_ birthdate: Account.Day) {
    for app in apps where !memories[app]!.isTrue(born: birthdate) { memories[app] = nil }
  }
}

/// What made an ``AgeState``, in the order of the person's log.
///
/// Events may be believed later than their place says, where a key came late. Two devices of one person must
/// come to the same all the same, so what comes late is put into its place and the state made again.
struct AgeLog: Sendable {
  enum Entry: Hashable, Sendable {
    case note(Content)
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
    case .note(let content): state.note(content)
    case .set(let content): state.set(content)
    case .born(let day):
      if day != born { state.corrected(day) }
      born = day
    }
  }
}
