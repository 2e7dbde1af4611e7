public import FamilyModel

/// The encoding, as it travels, of the values in a snapshot that have no packed form.
public protocol RecordCoding: Sendable {
  /// The event's encoding.
  func bytes(of event: Event) -> [UInt8]
  /// Decodes an event with an open or a sealed content; `nil` for other bytes.
  func event(_ bytes: [UInt8], isOpen: Bool) -> Event?
  /// The encoding of a command with an open content.
  func bytes(of command: Command) -> [UInt8]
  /// Decodes a command; `nil` for other bytes.
  func command(_ bytes: [UInt8]) -> Command?
  /// The encoding of an open content.
  func bytes(of content: Content) -> [UInt8]
  /// Decodes an open content; `nil` for other bytes.
  func content(_ bytes: [UInt8]) -> Content?
}

/// How a device makes and reads its snapshots.
public struct Snapshots: Sendable {
  /// Seals the bytes of all pieces, in order, with the device's own key, and appends what is sealed.
  ///
  /// - Returns: `false` if the bytes cannot be sealed.
  public typealias Seal = @Sendable (_ pieces: [[UInt8]], _ sealed: inout [UInt8]) -> Bool
  /// Opens this number of sealed bytes; `nil` for bytes that the device did not seal.
  public typealias Open = @Sendable (_ count: Int, NextBytes) throws -> [UInt8]?

  let coding: any RecordCoding
  let seal: Seal
  let open: Open
  /// Takes the snapshot that the shell has read and opened, so that only the device keeps its memory;
  /// `nil`: the records may have one.
  public var takeOpened: (@Sendable () -> OpenedSnapshot?)?
  /// Where the history of the snapshot moves at once; `nil`: the history stays in memory.
  public var storage: (any HistoryStorage)?
  /// A device makes a snapshot at a start that replays this many events, and the newest ones.
  var interval: Int
  /// A running device makes a snapshot after this many events, and the newest ones.
  var runningInterval: Int
  /// The newest events that no snapshot covers. Their order may still change: audiences arrive
  /// independently, and a reread goes back a few positions.
  var margin: Int

  /// Creates the means of one device.
  public init(
    coding: any RecordCoding, interval: Int = Limits.snapshotInterval,
    runningInterval: Int = Limits.runningSnapshotInterval,
    margin: Int = Limits.snapshotMargin, seal: @escaping Seal, open: @escaping Open
  ) {
    self.coding = coding
    self.interval = interval
    self.runningInterval = runningInterval
    self.margin = margin
    self.seal = seal
    self.open = open
  }
}
