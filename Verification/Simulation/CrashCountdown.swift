/// Counts down the effect boundaries that a process crosses before it crashes.
struct CrashCountdown {
  private var remaining: Int?
  /// Whether the machine loses power, so that unsynced writes may be lost.
  var power = false

  mutating func arm(after boundaries: Int, power: Bool) {
    remaining = boundaries
    self.power = power
  }

  /// Crosses one boundary.
  ///
  /// - Returns: Whether the process crashes here.
  mutating func fires() -> Bool {
    guard let remaining else { return false }
    self.remaining = remaining == 0 ? nil : remaining - 1
    return remaining == 0
  }
}
