public import FamilyModel

extension Envelope {
  /// The fields that the relay needs to refuse a request without decoding the rest.
  public struct Peek: Hashable, Sendable {
    /// The device that the request names. Not verified.
    public var device: DeviceAddress
    /// The number that the reply repeats.
    public var requestID: UInt64
    /// The command's id; `nil` if the command has none.
    public var commandID: CommandID?
    /// Whether the command is a child's question.
    public var isQuestion: Bool
  }

  /// The family that the request names, read without decoding the request.
  ///
  /// - Returns: `nil` unless version and family are the first two fields, as every encoder writes
  ///   them.
  public static func family(_ bytes: UnsafeRawBufferPointer) -> FamilyID? {
    var reader = FrameReader(bytes)
    guard reader.field(lengths: 0) == 1, reader.varint() != nil, reader.field(lengths: 0) == 2
    else {
      return nil
    }
    return reader.varint().map { FamilyID($0) }
  }

  /// The head of a request that cannot be decoded: the first five fields, which are the same in all
  /// versions of the protocol.
  ///
  /// - Returns: `nil` unless the request starts with its version, its family and its device.
  public static func head(_ bytes: UnsafeRawBufferPointer) -> Peek? {
    var reader = FrameReader(bytes)
    guard reader.field(lengths: 0) == 1, let version = reader.varint(), version > 0,
      reader.field(lengths: 0) == 2, let family = reader.varint(),
      reader.field(lengths: 0) == 3, let device = reader.uint32()
    else { return nil }
    var peek = Peek(
      device: DeviceAddress(family: FamilyID(family), device: DeviceID(device)), requestID: 0,
      isQuestion: false)
    var next = reader
    if next.field(lengths: 1 << 5) == 4, let id = next.varint() {
      peek.requestID = id
      reader = next
    }
    if reader.field(lengths: 1 << 5) == 5 { peek.commandID = reader.id() }
    return peek
  }

  /// Reads the leading fields up to the command's kind.
  ///
  /// - Returns: `nil` if the fields are not in ascending order or the request is not a command;
  ///   only decoding tells such requests apart.
  public static func peek(_ bytes: UnsafeRawBufferPointer) -> Peek? {
    var reader = FrameReader(bytes)
    var peek = Peek(
      device: DeviceAddress(family: FamilyID(0), device: DeviceID(0)), requestID: 0,
      isQuestion: false)
    guard reader.field(lengths: 0) == 1, reader.varint() == UInt64(Wire.version) else { return nil }
    while !reader.isAtEnd {
      switch reader.field(lengths: 1 << 5 | 1 << 6) {
      case 2:
        guard let value = reader.varint() else { return nil }
        peek.device.family = FamilyID(value)
      case 3:
        guard let value = reader.uint32() else { return nil }
        peek.device.device = DeviceID(value)
      case 4:
        guard let value = reader.varint() else { return nil }
        peek.requestID = value
      case 5:
        guard let value = reader.id() else { return nil }
        peek.commandID = value
      case 6:
        guard let slice = reader.slice() else { return nil }
        var command = FrameReader(slice)
        peek.isQuestion = command.field(lengths: .max) == 4
        return peek
      default: return nil
      }
    }
    return nil
  }
}
