/// A fuzz target: accepts any bytes, and traps if an invariant is violated.
public enum FuzzTarget: String, CaseIterable, Sendable {
  /// The decoders of all socket messages.
  case wire
  /// The relay machine: requests of all kinds, by members and unknown keys, over time.
  case core
  /// The decoders of stored records: those of the relay, the devices and the apps.
  case records
  /// The devices' machines against a relay that sends arbitrary messages.
  case device
  /// The machines of a family in which one member does anything that its keys allow.
  case member
  /// The same member's acts, a few at a time: about twenty times as many runs a second.
  case acts
  /// An app whose device changes genuine evidence.
  case app
  /// The decoders of messages about pictures, videos and sites.
  case content

  /// Runs the target once with one input.
  public func run(_ bytes: UnsafeRawBufferPointer) {
    switch self {
    case .wire: fuzzWire(bytes)
    case .core: fuzzCore(bytes)
    case .records: fuzzRecords(bytes)
    case .device: fuzzDevice(bytes)
    case .member: fuzzMember(bytes)
    case .acts: fuzzActs(bytes)
    case .app: fuzzAppDevice(bytes)
    case .content: fuzzContent(bytes)
    }
  }
}
