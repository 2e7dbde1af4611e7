import FamilyModel

/// A map that keeps most values in their packed form, so that a long history takes little memory, and
/// no time at a start.
///
/// *recent* → (enough recent values) *packed* → (changed) *recent*. Each run has more than twice as many
/// values as the next one, so that a value is packed again a few times only.
struct PackedMap<Key, Value>: Sendable
where Key: Packable & Hashable & Comparable & Sendable, Value: Packable & Sendable {
  private var recent: [Key: Value] = [:]
  /// The packed values. A later run has the newer value of a key.
  private var runs: [SortedRun<Key, Value>] = []
  private var storage: (any HistoryStorage)?

  init() {}

  subscript(key: Key) -> Value? {
    get {
      if let value = recent[key] { return value }
      for run in runs.reversed() {
        if let value = run.value(of: key) { return value }
      }
      return nil
    }
    set {
      guard let newValue else { return }
      recent[key] = newValue
      if recent.count >= Limits.recentHistory { pack() }
    }
  }

  /// Whether the map has a value for the key.
  func holds(_ key: Key) -> Bool { recent[key] != nil || runs.contains { $0.holds(key) } }

  /// All values.
  var all: [Key: Value] {
    var all: [Key: Value] = [:]
    for run in runs {
      for index in 0..<run.count {
        let entry = run.entries[index]
        all[entry.key] = entry.value
      }
    }
    return all.merging(recent) { $1 }
  }

  /// Packs the recent values.
  private mutating func pack() {
    var run = SortedRun(recent)
    while let former = runs.last, former.count <= 2 * run.count {
      run = .merged(older: former, newer: run, storage)
      runs.removeLast()
    }
    if let storage { run.move(to: storage) }
    runs.append(run)
    recent = [:]
  }

  /// The packed bytes that take memory.
  var bytesInMemory: Int { runs.reduce(0) { $0 + $1.entries.bytesInMemory } }

  /// Moves the packed values to a storage, and those that are packed later.
  mutating func move(to storage: any HistoryStorage) {
    self.storage = storage
    for index in runs.indices { runs[index].move(to: storage) }
  }
}

extension PackedMap: Packable {
  func pack(_ packer: inout Packer) {
    var run = recent.isEmpty ? nil : SortedRun(recent)
    for former in runs.reversed() {
      run = run.map { .merged(older: former, newer: $0, nil) } ?? former
    }
    packer.add(run?.entries ?? PackedValues())
  }

  init(_ packed: inout Unpacker) {
    let entries = packed.value() as PackedValues<SortedRun<Key, Value>.Entry>
    if entries.count > 0 { runs = [SortedRun(entries)] }
  }
}

/// As a dictionary: which values are packed is no part of the state.
extension PackedMap: CustomReflectable {
  var customMirror: Mirror { Mirror(reflecting: all) }
}
