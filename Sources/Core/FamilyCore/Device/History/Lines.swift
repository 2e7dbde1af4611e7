import FamilyModel

/// The lines of a conversation, in the order of the relay. The older lines are in their packed form,
/// so that a long conversation takes little memory.
public struct Lines: RandomAccessCollection, Sendable {
  private var packed = PackedValues<Line>()
  /// The sequence number of the newest packed line.
  private var packedSeq: UInt64 = 0
  private var recent: [Line] = []
  private var storage: (any HistoryStorage)?

  /// Creates an empty conversation's lines.
  public init() {}

  /// The first index.
  public var startIndex: Int { 0 }
  /// The number of lines.
  public var endIndex: Int { packed.count + recent.count }
  /// The line at an index.
  public subscript(index: Int) -> Line {
    index < packed.count ? packed[index] : recent[index - packed.count]
  }

  /// The line of an event; `nil` without one.
  public func line(of seq: UInt64) -> Line? {
    let index = lowerBound { $0.seq < seq }
    return index < count && self[index].seq == seq ? self[index] : nil
  }

  /// Inserts a line by its sequence number, because events deferred for a key arrive out of order.
  mutating func add(_ line: Line) {
    if line.seq < packedSeq { unpack() }
    var index = recent.endIndex
    while index > 0, recent[index - 1].seq > line.seq { index -= 1 }
    recent.insert(line, at: index)
    if recent.count >= Limits.recentHistory { pack() }
  }

  private mutating func pack() {
    packedSeq = recent.last?.seq ?? packedSeq
    packed.append(PackedValues(recent))
    if let storage { packed.move(to: storage) }
    recent = []
  }

  private mutating func unpack() {
    recent = Array(self)
    (packed, packedSeq) = (PackedValues(), 0)
  }

  /// The packed bytes that take memory.
  var bytesInMemory: Int { packed.bytesInMemory }

  /// Moves the packed lines to a storage, and those that are packed later.
  mutating func move(to storage: any HistoryStorage) {
    self.storage = storage
    packed.move(to: storage)
  }
}

extension Lines: Packable {
  func pack(_ packer: inout Packer) {
    var lines = self
    lines.storage = nil
    lines.pack()
    packer.add(lines.packed)
    packer.add(lines.packedSeq)
  }

  init(_ packed: inout Unpacker) {
    self.packed = packed.value()
    packedSeq = packed.number()
  }
}

extension Lines: Equatable {
  /// Whether both have equal lines.
  public static func == (one: Lines, other: Lines) -> Bool { one.elementsEqual(other) }
}

extension Lines: ExpressibleByArrayLiteral {
  /// Creates lines in the order of the relay.
  public init(arrayLiteral lines: Line...) { recent = lines }
}

/// As an array: which lines are packed is no part of the state.
extension Lines: CustomReflectable {
  /// The lines.
  public var customMirror: Mirror { Mirror(reflecting: Array(self)) }
}
