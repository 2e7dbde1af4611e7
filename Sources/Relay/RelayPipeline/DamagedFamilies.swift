package import FamilyModel
package import RelayStore

/// The families with records that could not be read.
///
/// A family is `served` → (its load fails) `refused` → (a growing delay) `served`, when the next request
/// reads its records again. A family whose damage the start has found is refused until the next start. All
/// other families are served throughout.
struct DamagedFamilies {
  /// The delay after the first failed load. Each later delay doubles.
  static let firstDelay = Milliseconds.seconds(1)
  /// The longest delay.
  static let longestDelay = Milliseconds.seconds(60)
  /// The number of families from which on the whole store counts as damaged. The relay then ends.
  static let limit = 1_024

  private struct Refusal {
    var failures = 0
    var since = Instant(milliseconds: 0)
    var isLasting = false
  }

  private var refusals: [FamilyID: Refusal] = [:]

  /// Families with a failed read since the start, or with damage that the start has found.
  var count: Int { refusals.count }

  /// Whether the family's requests are refused at this time.
  func refuses(_ family: FamilyID, now: Instant) -> Bool {
    guard !refusals.isEmpty, let refusal = refusals[family] else { return false }
    guard !refusal.isLasting else { return true }
    guard refusal.failures > 0 else { return false }
    let delay = min(Self.longestDelay, Self.firstDelay * (1 << min(refusal.failures - 1, 8)))
    // A clock that was set back does not prolong the refusal.
    return (refusal.since..<refusal.since + delay).contains(now)
  }

  /// Refuses a family until the next start. From a snapshot, a load may succeed beside the damage.
  ///
  /// - Returns: Whether the store may be served; `false` above ``limit``.
  mutating func refuse(_ family: FamilyID) -> Bool {
    refusals[family] = Refusal(isLasting: true)
    return count <= Self.limit
  }

  /// Records a failed read.
  ///
  /// - Parameter refuses: Whether the family's requests are refused for some time.
  /// - Returns: Whether this is the family's first failed read; `nil` at ``limit``.
  mutating func record(_ family: FamilyID, refuses: Bool, now: Instant) -> Bool? {
    let isFirst = refusals[family] == nil
    guard !isFirst || count < Self.limit else { return nil }
    var refusal = refusals[family] ?? Refusal()
    if refuses { (refusal.failures, refusal.since) = (refusal.failures + 1, now) }
    refusals[family] = refusal
    return isFirst
  }

  /// Records a successful load.
  mutating func recordLoad(of family: FamilyID) {
    if !refusals.isEmpty { refusals[family]?.failures = 0 }
  }
}

extension Pipeline {
  /// Refuses the families whose damage the start has found.
  ///
  /// - Throws: `damaged` if the store has too many of them.
  package func refuse(_ families: [FamilyID: StoreError]) throws(StoreError) {
    for (family, error) in families.sorted(by: { $0.key < $1.key }) {
      guard damaged.refuse(family) else { throw .damaged("\(families.count) families") }
      onDamage(family, error)
    }
    counters.damagedFamilies = damaged.count
  }

  /// Runs a read of a family's records. A read that fails affects no other family.
  ///
  /// - Parameter refuses: Whether a failed read refuses the family's further requests for some time.
  /// - Returns: Whether the read succeeded.
  func confined(to family: FamilyID, refuses: Bool, _ body: () throws -> Void) -> Bool {
    guard failure == nil else { return false }
    do {
      try body()
      return failure == nil
    } catch {
      let isConfined = (error as? StoreError).map { [.damaged, .io].contains($0.code) } ?? true
      guard isConfined, let isFirst = damaged.record(family, refuses: refuses, now: clock()) else {
        guarded { throw error }
        return false
      }
      counters.damagedFamilies = damaged.count
      if isFirst { onDamage(family, error) }
      return false
    }
  }
}
