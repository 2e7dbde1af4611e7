package import FamilyModel

extension ProxyLink {
  /// The slowness of a link.
  package struct Slowness: Sendable {
    /// The delay of all bytes, in milliseconds.
    package var delay: Int64 = 0
    /// The additional delay of some reads and of all bytes after them, in milliseconds: the effect
    /// of lost or reordered packets on TCP.
    package var stall: Int64 = 0
    /// Bytes forwarded in each ``Pump/interval``; `nil` for no limit.
    package var rate: Int?

    package init() {}
  }
}

extension ProxyLink.Slowness {
  /// Draws a delay, stalls, a low rate, or all three.
  package init(_ random: inout IDSource) {
    let kind = Int.random(in: 0...3, using: &random)
    if [0, 3].contains(kind) { delay = .random(in: 20...400, using: &random) }
    if [1, 3].contains(kind) { stall = .random(in: 200...800, using: &random) }
    if [2, 3].contains(kind) { rate = .random(in: 20...400, using: &random) }
  }
}
