import FamilyModel

/// The lines of a conversation, in the order of the relay. The older lines are in their packed form,
/// so that a long conversation takes little memory.
public struct Lines: RandomAccessCollection, Sendable {
  private var packed = PackedValues<Line>()
  /// The sequence number of the newest packed line.
  private var packedSeq: UInt64 = 0
  /// The lines that arrived after packed lines behind them, with their indices.
  private var late: [(index: Int, line: Line)] = []
  private var recent: [Line] = []
  private var storage: (any HistoryStorage)?

  /// Creates an empty conversation's lines.
  public init() {}

  /// The first index.
  public var startIndex: Int { 0 }
  /// The number of lines.
  public var endIndex: Int { packed.count + late.count + recent.count }
  /// The line at an index.
  public subscript(index: Int) -> Line {
    let older = packed.count + late.count
    guard index < older else { return recent[index - older] }
    let before = late.lowerBound { $0.index < index }
    if before < late.count, late[before].index == index { return late[before].line }
    return packed[index - before]
  }

  /// The line of an event; `nil` without one.
  public func line(of seq: UInt64) -> Line? {
    let index = lowerBound { $0.seq < seq }
    return index < count && self[index].seq == seq ? self[index] : nil
  }

  /// Inserts a line by its sequence number, because events deferred for a key arrive out of order.
  mutating func add(_ line: Line) {
    guard line.seq > packedSeq else { return addLate(line) }
    var index = recent.endIndex
    while index > 0, recent[index - 1].seq > line.seq { index -= 1 }
    recent.insert(line, at: index)
    if recent.count >= Limits.recentHistory { pack() }
  }

  private mutating func addLate(_ line: Line) {
    let place = lowerBound { $0.seq < line.seq }
    let position = late.lowerBound { $0.index < place }
    for index in position..<late.count { late[index].index += 1 }
    late.insert((place, line), at: position)
    if late.count >= Limits.recentHistory { packLate() }
  }

  private mutating func pack() {
    packedSeq = recent.last?.seq ?? packedSeq
    packed.append(PackedValues(recent))
    if let storage { packed.move(to: storage) }
    recent = []
  }

  /// Packs the late lines among the others, one block at a time.
  private mutating func packLate() {
    guard !late.isEmpty else { return }
    var writer = BlockWriter<Line>(storage)
    var next = 0
    packed.forEachPacked { index, bytes in
      while next < late.count, late[next].index == index + next {
        writer.add(CollectionOfOne(late[next].line))
        next += 1
      }
      writer.add(bytes)
    }
    writer.add(late[next...].lazy.map(\.line))
    (packed, late) = (writer.finish(), [])
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
    lines.packLate()
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
