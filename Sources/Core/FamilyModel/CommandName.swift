/// The name of a command in its family: the sending device with the id that it chose.
///
/// An id belongs to its sender. The same id of another device names another command.
public struct CommandName: Hashable, Comparable, Sendable {
  /// The sending device; zero: the administrator, or a device that requests to join.
  public var device: DeviceID
  /// The command's id.
  public var id: CommandID
  /// Creates the name of the command `id` of `device`.
  public init(_ device: DeviceID, _ id: CommandID) {
    self.device = device
    self.id = id
  }

  /// Orders by the device, and then by the id.
  public static func < (one: CommandName, other: CommandName) -> Bool {
    one.device == other.device ? one.id < other.id : one.device < other.device
  }
}
