public import FamilyCore
public import FamilyModel

/// The values in a device's snapshot, encoded as in its records.
public struct SnapshotCoding: RecordCoding {
  /// Creates the encoding.
  public init() {}

  public func bytes(of event: Event) -> [UInt8] { event.encode() }

  public func event(_ bytes: [UInt8], isOpen: Bool) -> Event? {
    guard let event = try? Event.decode(bytes) else { return nil }
    return isOpen ? event.opened() : event
  }

  public func bytes(of command: Command) -> [UInt8] { record(command).value }

  public func command(_ bytes: [UInt8]) -> Command? {
    let key = RecordKey.outbox(position: 0).bytes
    guard case .outbox(_, _, let command, _)? = try? DeviceRecord.decode(key: key, value: bytes)
    else { return nil }
    return command
  }

  private func record(_ command: Command) -> DeviceRecord {
    .outbox(position: 0, CommandID(high: 0, low: 0), command)
  }

  public func bytes(of content: Content) -> [UInt8] { content.bytes }

  public func content(_ bytes: [UInt8]) -> Content? { try? Content.sealed(bytes).opened() }
}
