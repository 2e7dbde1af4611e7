/// What is fuzzed: each target takes any bytes, and traps where a rule is broken.
public enum FuzzTarget: String, CaseIterable, Sendable {
  /// The decoders of everything that comes over a socket.
  case wire
  /// The relay's machine: requests of all kinds, of members and strangers, over time.
  case core
  /// What the stores keep, read back: of the relay, of a device, of an app.
  case records
  /// The devices' machines under a relay that says anything.
  case device

  /// Runs the target once.
  public func run(_ bytes: UnsafeRawBufferPointer) {
    switch self {
    case .wire: fuzzWire(bytes)
    case .core: fuzzCore(bytes)
    case .records: fuzzRecords(bytes)
    case .device: fuzzDevice(bytes)
    }
  }
}
