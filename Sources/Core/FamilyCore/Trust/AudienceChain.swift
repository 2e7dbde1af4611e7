import FamilyModel

/// The positions of one audience's chain that a device has read, ascending.
struct AudienceChain: Hashable, Sendable {
  /// The relation of a position to the chain.
  enum Relation {
    /// The position is in the chain.
    case known
    /// The chain has another hash at the position, or no event there: there are two histories.
    case differs
    /// The position is after the head.
    case beyond
  }

  var positions: [ChainPosition] = []
  /// Whether positions were forgotten at ``Limits/chainPositions``.
  var isShortened = false

  /// The newest position.
  var head: ChainPosition { positions.last ?? ChainPosition() }

  func relation(to position: ChainPosition) -> Relation {
    if position.seq == 0 { return position.hash.isZero ? .known : .differs }
    if position.seq > head.seq { return .beyond }
    let index = index(of: position.seq)
    if index == 0, isShortened { return .known }
    return positions[index] == position ? .known : .differs
  }

  /// Appends a position.
  ///
  /// Precondition: the position is after the head.
  mutating func append(_ position: ChainPosition) {
    positions.append(position)
    guard positions.count > Limits.chainPositions else { return }
    positions.removeFirst(positions.count / 2)
    isShortened = true
  }

  /// Removes the newest positions.
  ///
  /// - Returns: The removed positions.
  mutating func rewind(by count: Int) -> [ChainPosition] {
    let removed = Array(positions.suffix(count))
    positions.removeLast(removed.count)
    if positions.isEmpty { isShortened = false }
    return removed
  }

  /// The index of the first position at or after `seq`.
  private func index(of seq: UInt64) -> Int {
    positions.lowerBound { $0.seq < seq }
  }
}
