public import FamilyModel

/// The questions of a conversation. Most questions with an answer are in their packed form, so that a
/// long history takes little memory.
public struct Questions: Sendable {
  private var map = PackedMap<QuestionID, QuestionState>()
  /// The questions without an answer, in the order of their events.
  private(set) var open: [QuestionID] = []

  /// Creates an empty conversation's questions.
  public init() {}

  /// The question; `nil` for an unknown one.
  public internal(set) subscript(id: QuestionID) -> QuestionState? {
    get { map[id] }
    set {
      guard let newValue else { return }
      let isOpen = newValue.phase == .open
      if let index = open.firstIndex(of: id) {
        if !isOpen { open.remove(at: index) }
      } else if isOpen {
        insertOpen(id, newValue.seq)
      }
      map[id] = newValue
    }
  }

  /// Events deferred for a key arrive out of order.
  private mutating func insertOpen(_ id: QuestionID, _ seq: UInt64) {
    var index = open.endIndex
    while index > 0, let before = map[open[index - 1]], before.seq > seq { index -= 1 }
    open.insert(id, at: index)
  }

  /// Whether there is such a question.
  public func holds(_ id: QuestionID) -> Bool { map.holds(id) }

  /// The questions without an answer, in the order of their events. Some may have expired.
  public var unanswered: [QuestionState] { open.compactMap { map[$0] } }

  /// Moves the packed questions to a storage, and those that are packed later.
  mutating func move(to storage: any HistoryStorage) { map.move(to: storage) }

  /// All questions. Takes time and memory for each.
  public var all: [QuestionID: QuestionState] { map.all }
}

extension Questions: Packable {
  func pack(_ packer: inout Packer) {
    packer.add(map)
    packer.add(open)
  }

  init(_ packed: inout Unpacker) {
    map = packed.value()
    open = packed.value()
  }
}

extension Questions: Equatable {
  /// Whether both have equal questions.
  public static func == (one: Questions, other: Questions) -> Bool { one.all == other.all }
}
