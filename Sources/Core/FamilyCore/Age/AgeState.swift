public import FamilyModel

/// A person's age settings, and the age answers of each app.
///
/// The state is derived from the person's log, so all devices of the person agree. All apps share
/// the anchor of the person: the day of the first shared answer to any app.
public struct AgeState: Hashable, Sendable {
  private struct Choice: Hashable, Sendable {
    var settings: AgeSettings
    var byChild: Bool
  }

  private var choices = Statements<Choice>()
  /// The age settings.
  public var settings: AgeSettings { choices.current?.value.settings ?? AgeSettings() }
  /// Whether a person chose the settings; otherwise they are the defaults.
  public var isChosen: Bool { choices.current != nil }
  /// Whether the child's own device set the settings, with the passcode.
  var isSetByChild: Bool { choices.current?.value.byChild ?? false }
  /// The day of the first shared answer to any app, and the latest day of one.
  private var anchor: Account.Day?
  private var last: Account.Day?
  /// The age answers of each app. ``memory(_:)`` adds the anchor.
  private var memories: [AppID: AgeMemory] = [:]
  /// The apps with an anchor of their own, because the person chose “share again” for them.
  private var restarted: Set<AppID> = []
  /// Creates a state with default settings and no answers.
  public init() {}

  /// The apps with age answers, in order.
  public var apps: [AppID] { memories.keys.sorted() }

  /// The app's age answers.
  public func memory(_ app: AppID) -> AgeMemory {
    var memory = memories[app] ?? AgeMemory()
    guard !restarted.contains(app) else { return memory }
    memory.anchor = anchor
    memory.last = last
    return memory
  }

  /// Records an age answer, or deletes the answers of an app.
  mutating func record(_ content: Content) {
    guard case .ageMemory(let app, let answer) = content else { return }
    guard let answer else { return restart(app) }
    var memory = memory(app)
    memory.add(answer)
    memories[app] = memory
    guard !restarted.contains(app) else { return }
    anchor = memory.anchor
    last = memory.last
  }

  /// Sets the settings, or deletes the answers of an app.
  mutating func set(_ content: Content, byChild: Bool, _ order: StatementOrder) {
    switch content {
    case .ageSettings(let new): choices.add(Choice(settings: new, byChild: byChild), order)
    case .ageMemory(let app, nil): restart(app)
    default: break
    }
  }

  /// Deletes the answers of an app. Its next answer has the present age, and an anchor of its own.
  private mutating func restart(_ app: AppID) {
    guard memories.removeValue(forKey: app) != nil else { return }
    restarted.insert(app)
  }

  /// Deletes the answers that a corrected birthdate makes false, and the anchor with the last of
  /// them: the anchor belongs to the false birthdate.
  mutating func corrected(_ birthdate: Account.Day) {
    for app in apps where !memory(app).isTrue(born: birthdate) { memories[app] = nil }
    let hasShared = memories.contains { app, memory in
      !restarted.contains(app) && memory.answers.contains { $0.range != nil }
    }
    guard !hasShared else { return }
    anchor = nil
    last = nil
  }
}

/// The events behind an ``AgeState``, in the order of the person's log.
///
/// An event that was deferred for a key arrives late. Two devices of one person must still agree,
/// so a late event is inserted by its sequence number and the state is computed again.
struct AgeLog: Sendable {
  enum Entry: Hashable, Sendable {
    case record(Content)
    case set(Content, byChild: Bool = false)
    case born(Account.Day)
  }

  private(set) var state = AgeState()
  private(set) var entries: [(order: StatementOrder, entry: Entry)] = []
  private var born: Account.Day?

  mutating func add(_ event: Event, _ entry: Entry) {
    let isLast = entries.last.map { $0.order.seq < event.seq } ?? true
    let index = entries.firstIndex { $0.order.seq > event.seq } ?? entries.count
    guard !isLast else { return append(entry, event.order) }
    entries.insert((event.order, entry), at: index)
    state = AgeState()
    born = nil
    for (order, entry) in entries { apply(entry, order) }
  }

  /// Adds the last entry.
  mutating func append(_ entry: Entry, _ order: StatementOrder) {
    entries.append((order, entry))
    apply(entry, order)
  }

  private mutating func apply(_ entry: Entry, _ order: StatementOrder) {
    switch entry {
    case .record(let content): state.record(content)
    case .set(let content, let byChild): state.set(content, byChild: byChild, order)
    case .born(let day):
      if day != born { state.corrected(day) }
      born = day
    }
  }
}
