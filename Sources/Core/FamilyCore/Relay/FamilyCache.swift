import FamilyModel

/// The families that a relay holds, as a CLOCK cache: families used recently are open values; all
/// others are packed, each into one array of bytes.
///
/// `packed` → (use) `open` → (no use during one round of the clock hand) `packed`. Most families
/// are idle most of the time. A million packed families take little memory, and opening one reads
/// contiguous memory instead of twenty scattered objects.
struct FamilyCache: Sendable {
  typealias Family = RelayMachine.Family

  /// Entries of one block. A dictionary of the entries would take more than twice the memory and
  /// move all entries whenever it grows.
  private static let blockCount = 4_096

  /// Closed questions above which a family is not packed: packing would take longer than its use.
  private static let packedQuestionLimit = 64

  private enum Entry: Sendable {
    case free
    /// `isIdle`: all devices have acknowledged all events.
    case packed([UInt8], lastUsed: Instant, isIdle: Bool)
    /// A family with too many closed questions to pack.
    case large(Large)
    /// The index of the family's frame.
    case open(Int)
  }

  private final class Large: Sendable {
    let family: Family
    init(_ family: Family) { self.family = family }
  }

  /// The slot of each family: the index of its entry.
  private var slots = SlotIndex()
  /// The entries, in blocks of ``blockCount``.
  private var blocks: [[Entry]] = []
  private var freeSlots: [Int] = []
  /// The frames: the open families.
  private var frames: [Family] = []
  /// For each frame, its family's slot and whether the family was used since the hand passed.
  private var frameStates: [(slot: Int, isRecent: Bool)] = []
  private var freeFrames: [Int] = []
  /// The frame that the clock hand points at.
  private var hand = 0
  private let frameLimit: Int

  /// - Parameter openFamilies: The number of families that are open at a time, at least one.
  init(openFamilies: Int = 16_384) { frameLimit = max(1, openFamilies) }

  var count: Int { slots.count }

  func slot(of id: FamilyID) -> Int? { slots[id] }

  /// Whether the family is held and open.
  func isOpen(_ id: FamilyID) -> Bool {
    if let slot = slots[id], case .open = entry(slot) { true } else { false }
  }

  /// Whether the family is packed and no device lags.
  func isIdle(_ slot: Int) -> Bool {
    if case .packed(_, _, isIdle: true) = entry(slot) { true } else { false }
  }

  /// The family at a slot that ``slot(of:)`` returned.
  subscript(slot: Int) -> Family {
    get {
      switch entry(slot) {
      case .open(let frame): frames[frame]
      case .packed(let bytes, _, _): Unpacker.unpack(bytes, as: Family.self)!
      case .large(let large): large.family
      case .free: preconditionFailure("slot \(slot) is free")
      }
    }
    _modify {
      let frame = openFrame(slot)
      yield &frames[frame]
    }
  }

  /// Reads a family that is likely to change soon, and leaves it open.
  mutating func open<R>(_ slot: Int, _ body: (borrowing Family) -> R) -> R {
    let frame = openFrame(slot)
    return body(frames.span[frame])
  }

  /// Inserts the family, or replaces the one with this id.
  mutating func insert(_ family: Family, _ id: FamilyID) {
    if let slot = slots[id] { return self[slot] = family }
    let slot = freeSlots.popLast() ?? slots.count
    if slot / Self.blockCount == blocks.count {
      blocks.append([])
      blocks[slot / Self.blockCount].reserveCapacity(Self.blockCount)
    }
    if slot % Self.blockCount == blocks[slot / Self.blockCount].count {
      blocks[slot / Self.blockCount].append(.free)
    }
    slots[id] = slot
    set(slot, .open(placeInFrame(family, slot)))
  }

  mutating func remove(_ id: FamilyID) {
    guard let slot = slots.removeValue(forKey: id) else { return }
    if case .open(let frame) = entry(slot) {
      frames[frame] = Family(state: FamilyState(), lastUsed: Instant(milliseconds: 0))
      freeFrames.append(frame)
    }
    set(slot, .free)
    freeSlots.append(slot)
  }

  /// All families but the `limit` most recently used; equal times are ordered by id.
  func leastRecentlyUsed(keeping limit: Int) -> [FamilyID] {
    slots.map { (lastUsed($0.value), $0.key) }.sorted { $0 < $1 }
      .prefix(max(0, count - limit)).map(\.1)
  }

  private func lastUsed(_ slot: Int) -> Instant {
    switch entry(slot) {
    case .open(let frame): frames[frame].lastUsed
    case .packed(_, let lastUsed, _): lastUsed
    case .large(let large): large.family.lastUsed
    case .free: Instant(milliseconds: .min)
    }
  }

  private func entry(_ slot: Int) -> Entry {
    blocks[slot / Self.blockCount][slot % Self.blockCount]
  }

  private mutating func set(_ slot: Int, _ entry: Entry) {
    blocks[slot / Self.blockCount][slot % Self.blockCount] = entry
  }

  /// The frame of the family, which is opened if necessary.
  private mutating func openFrame(_ slot: Int) -> Int {
    if case .open(let frame) = entry(slot) {
      frameStates[frame].isRecent = true
      return frame
    }
    let frame = placeInFrame(self[slot], slot)
    set(slot, .open(frame))
    return frame
  }

  /// Places the family in a free frame, a new frame, or the frame of a family that is packed
  /// instead.
  private mutating func placeInFrame(_ family: consuming Family, _ slot: Int) -> Int {
    if let frame = freeFrames.popLast() {
      swap(&frames[frame], &family)
      frameStates[frame] = (slot, true)
      return frame
    }
    if frames.count < frameLimit {
      frames.append(consume family)
      frameStates.append((slot, true))
      return frames.count - 1
    }
    while frameStates[hand].isRecent {
      frameStates[hand].isRecent = false
      hand = (hand + 1) % frameStates.count
    }
    let frame = hand
    hand = (hand + 1) % frameStates.count
    swap(&family, &frames[frame])
    set(frameStates[frame].slot, Self.closed(family))
    frameStates[frame] = (slot, true)
    return frame
  }

  private static func closed(_ family: Family) -> Entry {
    family.state.closed.entries.count > packedQuestionLimit
      ? .large(Large(family))
      : .packed(Packer.pack(family), lastUsed: family.lastUsed, isIdle: family.isFullyAcknowledged)
  }
}
