import FamilyModel

extension Lane {
  /// How slow a way is.
  struct Slowness: Sendable {
    /// Milliseconds by which bytes are late.
    var delay: Int64 = 0
    /// Milliseconds by which some are later still, and with them all behind: what the loss of a packet, and two
    /// in the wrong order, are to TCP.
    var stall: Int64 = 0
    /// Bytes that pass in each ``Pump/interval``; `nil`: no bound.
    var rate: Int?
  }
}

extension Lane.Slowness {
  /// Far away, or losing packets, or narrow; or all of it.
  init(_ random: inout IDSource) {
    let kind = Int.random(in: 0...3, using: &random)
    if [0, 3].contains(kind) { delay = .random(in: 20...400, using: &random) }
    if [1, 3].contains(kind) { stall = .random(in: 200...800, using: &random) }
    if [2, 3].contains(kind) { rate = .random(in: 20...400, using: &random) }
  }
}
