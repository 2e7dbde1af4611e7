import RelayStore

/// The rows of the log in order, as links of the families' chains.
///
/// A whole event proves its family and its number. A damaged one proves neither: its place in a chain
/// does, which the row before or the next one of the family confirms.
struct ChainWalk {
  struct Link {
    var row: Int64
    var prior: Int64
    var family: UInt64
    var seq: UInt64
  }

  /// The newest event of each family.
  private(set) var ends: [UInt64: (row: Int64, seq: UInt64)] = [:]
  /// Damaged first events of families, by their rows: the family's next event proves them.
  private var unproven: [Int64: (family: UInt64, error: StoreError)] = [:]
  private let first: Int64
  private var next: Int64

  /// A walk from this row.
  init(from row: Int64) { (first, next) = (row, row) }

  /// Adds a row.
  ///
  /// - Parameters:
  ///   - error: The row's damage; `nil` for a whole event.
  ///   - isEvent: Whether a row before the walk has the family's event with this number.
  /// - Throws: `damaged` if a row is missing, or the row's damage has no proven owner.
  mutating func add(
    _ link: Link, _ error: StoreError?, _ damage: inout StoreDamage,
    isEvent: (_ seq: UInt64, _ family: UInt64, _ row: Int64) -> Bool
  ) throws {
    // A restored record without a number stands for a missing one.
    guard link.row == next, link.seq > 0 else {
      throw StoreError.damaged("the record in row \(next)")
    }
    next += 1
    let (family, seq) = (link.family, link.seq)
    // A family's first event here may continue one before the walk.
    let isContinued = ends[family] == nil && 0 < link.prior && link.prior < first && seq > 1
    let end = isContinued ? (link.prior, seq - 1) : ends[family] ?? (0, 0)
    guard seq == end.1 + 1 else {
      throw error ?? StoreError.damaged("family \(family) lacks event \(end.1 + 1)")
    }
    ends[family] = (link.row, seq)
    if let error {
      guard link.prior == end.0, !isContinued || isEvent(seq - 1, family, link.prior) else {
        throw error
      }
      if seq > 1 {
        damage.add(error, to: family, event: seq)
      } else {
        unproven[link.row] = (family, error)
      }
      return
    }
    if link.prior != end.0 {
      damage.add(.damaged("the place of event \(seq) of family \(family)"), to: family)
    } else if let former = unproven[link.prior], former.family == family {
      damage.add(former.error, to: family, event: 1)
      unproven[link.prior] = nil
    }
  }

  /// Ends the walk.
  ///
  /// - Throws: `damaged` if rows are missing, or a first event's damage has no proven owner.
  func end(at lastRow: Int64) throws {
    guard next == lastRow + 1 else { throw StoreError.damaged("the record in row \(next)") }
    if let first = unproven.min(by: { $0.key < $1.key }) { throw first.value.error }
  }
}
