import BlockStorage
import FamilyModel
import RelayWire
import TestThreads
import Testing

@testable import FamilyCore

/// The containers of a long history, each beside a container of the standard library.
@Suite(.ownThread) struct PackedHistoryTests {
  private static let count = UInt64(3 * Limits.recentHistory)

  private static func line(_ seq: UInt64) -> Line {
    Line(
      seq: seq, command: ID128(high: 1, low: seq), device: DeviceID(UInt32(seq % 5)),
      at: Instant(milliseconds: Int64(seq)), body: .text("line \(seq)"))
  }

  /// The value of a snapshot, whose memory it shares; `nil` for bytes of another value.
  private static func unpacked<Value: Packable>(_ value: Value) -> Value? {
    let coverage = SnapshotCoverage(seq: 0, heads: SmallMap())
    let bytes = Packer.bytes { packer in
      packer.add("before")
      packer.add(value)
      packer.add("after")
    }
    return Unpacker.read(OpenedSnapshot(coverage, bytes, SnapshotCoding())) { packed in
      _ = packed.text()
      let value = packed.value() as Value
      return packed.text() == "after" ? value : nil
    } ?? nil
  }

  @Test("O11: a packed map has the values of a dictionary", arguments: 1...4 as ClosedRange<UInt64>)
  func map(_ seed: UInt64) throws {
    var source = IDSource(seed: seed)
    var map = PackedMap<CommandName, Line>()
    let storage = MemoryHistory()
    // One map moves before the first value, and one does not move.
    if seed.isMultiple(of: 2) { map.move(to: storage) }
    var expected: [CommandName: Line] = [:]
    for number in 0..<Self.count {
      // Every third value replaces one, which may be packed.
      let id = number % 3 == 0 ? source.next() % (number + 1) : number
      let name = CommandName(DeviceID(UInt32(id % 7)), ID128(high: id &* 0x9E37_79B9, low: id))
      map[name] = Self.line(number)
      expected[name] = Self.line(number)
    }
    #expect(map.all == expected)
    #expect((storage.bytes > 0) == seed.isMultiple(of: 2))
    #expect(expected.keys.allSatisfy { map.holds($0) && map[$0] == expected[$0] })
    #expect(!map.holds(CommandName(DeviceID(9), ID128(high: 0, low: 1))))
    var again = try #require(Self.unpacked(map))
    #expect(again.all == expected)
    let changed = try #require(expected.keys.first)
    again[changed] = Self.line(0)
    expected[changed] = Self.line(0)
    #expect(again.all == expected)
    #expect(try #require(Self.unpacked(again)).all == expected)
  }

  @Test("O11: a packed set has the elements of a set")
  func set() throws {
    var source = IDSource(seed: 1)
    var set = PackedSet<CommandName>()
    var expected: Set<CommandName> = []
    for _ in 0..<Self.count {
      let id = source.next() % Self.count
      let name = CommandName(DeviceID(UInt32(id % 7)), ID128(high: id &* 0x9E37_79B9, low: id))
      set.insert(name)
      expected.insert(name)
      #expect(set.contains(name))
    }
    #expect(set.all == expected.sorted())
    let again = try #require(Self.unpacked(set))
    #expect(again.all == expected.sorted())
    #expect(expected.allSatisfy(again.contains))
    #expect(!again.contains(CommandName(DeviceID(9), ID128(high: 0, low: 0))))
  }

  @Test(
    "O11: lines are in the relay's order, also if one arrives after those behind it were packed")
  func lines() throws {
    let late: Set<UInt64> = [1, 7, 600, Self.count - 1]
    var lines = Lines()
    for seq in 1...Self.count where !late.contains(seq) { lines.add(Self.line(seq)) }
    #expect(lines.line(of: 600) == nil && lines.line(of: 601) == Self.line(601))
    for seq in late.sorted(by: >) { lines.add(Self.line(seq)) }
    for seq in Self.count + 1...2 * Self.count { lines.add(Self.line(seq)) }
    #expect(lines.elementsEqual((1...2 * Self.count).map(Self.line)))
    #expect(lines.line(of: 600) == Self.line(600) && lines.line(of: 0) == nil)
    #expect(lines.line(of: 2 * Self.count + 1) == nil)
    var again = try #require(Self.unpacked(lines))
    #expect(again == lines && again.last == lines.last)
    again.add(Self.line(2 * Self.count + 1))
    #expect(again.count == lines.count + 1 && again != lines)
  }

  @Test("O11: the questions without an answer are known at once, and an answer counts when packed")
  func questions() throws {
    func header(_ number: UInt64) -> QuestionHeader {
      QuestionHeader(
        id: ID128(high: 0, low: number), child: PersonID(3), app: AppID("example.app"),
        subjects: [], choices: [ChoiceHeader(id: "yes", answer: .approval)], expiration: nil)
    }
    var questions = Questions()
    for number in 1...Self.count {
      questions[ID128(high: 0, low: number)] = QuestionState(
        header: header(number), seq: number, lastAsked: Instant(milliseconds: 0))
      if number % 100 != 0 { questions[ID128(high: 0, low: number)]?.phase = .cancelled }
    }
    let open = stride(from: 100, through: Self.count, by: 100).map { $0 }
    #expect(questions.unanswered.map(\.seq) == open)
    var again = try #require(Self.unpacked(questions))
    #expect(again == questions && again.unanswered.map(\.seq) == open)
    again[ID128(high: 0, low: 100)]?.phase = .cancelled
    #expect(again.unanswered.map(\.seq) == Array(open.dropFirst()))
    #expect(again[ID128(high: 0, low: 100)]?.phase == .cancelled && again != questions)
    #expect(again.all.count == Int(Self.count))
    #expect(again[ID128(high: 1, low: 1)] == nil)
    again[ID128(high: 1, low: 1)]?.phase = .cancelled
    #expect(!again.holds(ID128(high: 1, low: 1)))
  }

  @Test("O11: a history of any length takes the same memory, and its storage no former copy")
  func bounded() {
    let storage = MemoryHistory(leastBytes: Limits.historyInMemory)
    var map = PackedMap<CommandName, Line>()
    var lines = Lines()
    map.move(to: storage)
    lines.move(to: storage)
    var largest = 0
    var held: [Int] = []
    for number in 1...8 * Self.count {
      map[CommandName(DeviceID(1), ID128(high: number &* 0x9E37_79B9, low: number))] =
        Self.line(number)
      lines.add(Self.line(number))
      largest = max(largest, map.bytesInMemory, lines.bytesInMemory)
      if number == 4 * Self.count || number == 8 * Self.count { held.append(storage.bytes) }
    }
    #expect(largest < 2 * Limits.historyInMemory)
    #expect(held[0] > 8 * Limits.historyInMemory && held[1] > held[0] && held[1] < 3 * held[0])
    #expect(lines.elementsEqual((1...8 * Self.count).map(Self.line)))
    (map, lines) = (PackedMap(), Lines())
    #expect(storage.bytes == 0)
  }

  @Test(
    "O11: late lines in any number join the packed ones, a block at a time", arguments: [1, 2, 3])
  func late(_ seed: UInt64) throws {
    var source = IDSource(seed: seed)
    let storage = MemoryHistory(leastBytes: Limits.historyInMemory)
    var lines = Lines()
    lines.move(to: storage)
    let numbers = 1...4 * Self.count
    // A third of the lines arrives late, in any order.
    var late: [UInt64] = []
    for seq in numbers {
      if source.next() % 3 == 0 { late.append(seq) } else { lines.add(Self.line(seq)) }
    }
    var (largest, expected) = (0, Set(numbers).subtracting(late))
    while !late.isEmpty {
      let seq = late.remove(at: Int(source.next() % UInt64(late.count)))
      lines.add(Self.line(seq))
      expected.insert(seq)
      largest = max(largest, lines.bytesInMemory)
      if late.count.isMultiple(of: 700) {
        #expect(lines.map(\.seq) == expected.sorted())
        #expect(try #require(Self.unpacked(lines)).map(\.seq) == expected.sorted())
      }
    }
    #expect(lines.elementsEqual(numbers.map(Self.line)))
    #expect(numbers.allSatisfy { lines.line(of: $0) == Self.line($0) })
    #expect(largest < 2 * Limits.historyInMemory)
  }

  @Test("O11: a history moves, and stays in memory without room", arguments: [0, 90_000])
  func room(_ capacity: Int) throws {
    var lines = Lines()
    for seq in 1...Self.count { lines.add(Self.line(seq)) }
    var again = try #require(Self.unpacked(lines))
    let storage = MemoryHistory(capacity: capacity)
    let before = again.bytesInMemory
    again.move(to: storage)
    #expect(before > 90_000 && again.bytesInMemory == before - storage.bytes)
    #expect((storage.bytes > 0) == (capacity > 0))
    for seq in Self.count + 1...2 * Self.count {
      lines.add(Self.line(seq))
      again.add(Self.line(seq))
    }
    #expect(again == lines && Self.unpacked(again) == lines)
  }

  @Test("O11: the later of two runs has a key's value, also after both are one run")
  func later() {
    let name = CommandName(DeviceID(1), ID128(high: 0, low: 5))
    var map = PackedMap<CommandName, Line>()
    for round in 1...6 as ClosedRange<UInt64> {
      for number in 1...UInt64(Limits.recentHistory) where number != 5 {
        map[CommandName(DeviceID(UInt32(round)), ID128(high: 1, low: number))] = Self.line(number)
      }
      map[name] = Self.line(round)
      #expect(map[name] == Self.line(round))
    }
  }

  @Test("O11: packed bytes of another length are not read")
  func damaged() {
    let bytes = Packer.pack(PackedValues([Self.line(1), Self.line(2)]))
    #expect(Unpacker.unpack(bytes, as: PackedValues<Line>.self)?.count == 2)
    var longer = bytes
    longer[1] += 1
    #expect(Unpacker.unpack(longer, as: PackedValues<Line>.self) == nil)
    #expect(Unpacker.unpack(Array(bytes.dropLast()), as: PackedValues<Line>.self) == nil)
  }
}
