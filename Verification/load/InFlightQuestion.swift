import FamilyModel

/// One question on its way, from the moment at which the plan wanted it to the moment at which the app has
/// handled the answer and everybody shows it.
struct InFlightQuestion {
  let kind: Kind
  /// When the plan wanted it asked, in nanoseconds of `Monotonic`. Every latency begins here, so that a
  /// stall counts against each question that it delays.
  let scheduled: UInt64
  let family: FamilyID
  /// Whether it is counted: what a duplicate turns into is not an arrival.
  var isMeasured = true
  /// Whether a device of the family was off the network meanwhile.
  var isHeldUp = false
  /// How many guardians' devices showed the bubble and gave an answer.
  var answers = 0
  /// How often the app was told that the question goes out.
  var timesSent = 0
  /// Devices that show the decision.
  var shown = 0
  var isHandled = false
}

/// What is measured of a question.
enum Measure: String, CaseIterable, Codable, Sendable {
  /// From the plan's moment until the generator asked.
  case lag
  /// From the plan's moment until the relay has the question on disk.
  case asked
  /// From a guardian's answer until the relay has it on disk.
  case answered
  /// From the plan's moment until the app has handled the answer.
  case approval
  /// The same, where a device of the family was off the network.
  case heldUp
}

/// One measured time.
struct Sample: Sendable {
  var measure: Measure
  var kind: Kind
  /// Microseconds.
  var value: UInt64
}

/// The question of an arrival.
enum LoadQuestion {
  /// Marks the question that a duplicate asks in another's place.
  static let again: UInt64 = 1 << 63

  static let choices = [
    Choice(id: "hour", title: "One hour", answer: .approval),
    Choice(id: "day", title: "All day", answer: .approval),
    Choice(id: "no", title: "No", answer: .denial),
  ]

  static func id(_ number: UInt64) -> QuestionID { ID128(high: 0x6C6F_6164, low: number) }

  static func make(_ arrival: Arrival) -> Question {
    let id = id(arrival.number)
    var name = NameParts()
    name.given = "Person \(arrival.number)"
    let handle = Handle("person-\(arrival.number)", .custom)
    let topic = Topic.communication(
      people: [Subject(handle: handle, name: name)], actions: [.message])
    guard arrival.kind == .choice else { return Question(id: id, topic: topic) }
    return Question(id: id, topic: topic, choices: choices, defaultChoice: choices[2])
  }

  /// What the `index`-th guardian who sees the bubble does; `nil`: leaves it to the other.
  static func answer(_ kind: Kind, _ index: Int) -> (choice: String, reviewed: Bool)? {
    switch (kind, index) {
    case (.race, 1): ("decline", false)
    case (_, 1...): nil
    case (.decline, _): ("decline", false)
    case (.choice, _): ("day", true)
    default: ("approve", true)
    }
  }

  /// What the app may be told of a question of this kind.
  static func right(_ kind: Kind) -> Set<String> {
    switch kind {
    case .race: ["approve", "decline"]
    case .decline: ["decline"]
    case .choice: ["day"]
    default: ["approve"]
    }
  }
}
