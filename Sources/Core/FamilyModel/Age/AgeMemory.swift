/// An age answer that an app received, as the person's devices record it.
public struct AgeAnswer: Hashable, Sendable {
  /// The gates after clamping.
  public var gates: [Int32]
  /// The day of the answer.
  public var day: Account.Day
  /// The shared range, without controls, which every answer takes from the current settings; `nil`:
  /// declined.
  public var range: AgeRange?
  /// The ages that remain possible to an observer of this answer and of the same year's earlier
  /// answers.
  public var known: AgeSpan
  /// Creates an answer.
  public init(gates: [Int32], day: Account.Day, range: AgeRange?, known: AgeSpan = AgeSpan()) {
    self.gates = gates
    self.day = day
    self.range = range
    self.known = known
  }
}

/// The age answers that one app received.
///
/// All answers concern the person's age on one day, the anchor: the day of the person's first
/// shared answer to any app. The age advances only on the anchor's anniversaries. Persons of equal
/// age on the anchor are therefore indistinguishable to all apps together: repeated requests narrow
/// a birthday to one year and no further. After “share again” the app has an anchor of its own.
public struct AgeMemory: Hashable, Sendable {
  /// The day of the first shared answer.
  public var anchor: Account.Day?
  /// The latest day of a shared answer.
  public var last: Account.Day?
  /// The answers, one for each set of gates, in the order of their days.
  public private(set) var answers: [AgeAnswer] = []
  /// Creates an empty memory.
  public init() {}

  /// The current day for this app. A clock that was set back has no effect.
  public func day(_ today: Account.Day) -> Account.Day {
    max(today, last ?? today)
  }

  /// Whether the answer still holds. Shared answers hold until the anchor's next anniversary,
  /// declined ones for one year.
  public func isCurrent(_ answer: AgeAnswer, _ day: Account.Day) -> Bool {
    guard answer.range != nil, let anchor else { return answer.day.years(to: day) < 1 }
    return anchor.years(to: answer.day) >= anchor.years(to: day)
  }

  /// The first day on which the answer no longer holds.
  public func end(of answer: AgeAnswer) -> Account.Day {
    guard answer.range != nil, let anchor else { return answer.day.anniversary(1) }
    return anchor.anniversary(anchor.years(to: answer.day) + 1)
  }

  /// The answer to these gates, current or not.
  public func answer(to gates: [Int32]) -> AgeAnswer? { answers.first { $0.gates == gates } }

  /// The age that applies on this day: the age at the anchor's latest anniversary.
  ///
  /// The sum adds anniversaries and does not compute the age again. If the birthday or the anchor
  /// is a 29 February, the computed age could differ from the sum and reveal the birthday.
  public func age(born: Account.Day, _ day: Account.Day) -> Int32 {
    guard let anchor else { return born.years(to: day) }
    return born.years(to: anchor) + anchor.years(to: day)
  }

  /// Whether the memory has its maximum of current answers; a further one is refused.
  public func isFull(_ day: Account.Day) -> Bool {
    answers.count { isCurrent($0, day) } >= Limits.ageAnswers
  }

  /// The ages that this year's answers leave possible.
  public func known(_ day: Account.Day) -> AgeSpan {
    answers.filter { $0.range != nil && isCurrent($0, day) }
      .reduce(AgeSpan()) { $0.intersection($1.known) }
  }

  /// The latest shared range that still holds.
  public func latest(_ day: Account.Day) -> AgeRange? {
    answers.last { $0.range != nil && isCurrent($0, day) }?.range
  }

  /// Adds an answer of this or another device.
  ///
  /// All devices apply answers in the order of the person's log and reach the same memory. Of two
  /// concurrent answers to the same gates, the first holds.
  public mutating func add(_ new: AgeAnswer) {
    if new.range != nil {
      anchor = min(anchor ?? new.day, new.day)
      last = max(last ?? new.day, new.day)
    }
    if let old = answer(to: new.gates) {
      let day = day(new.day)
      if isCurrent(old, day), old.range != nil || new.range == nil { return }
      answers.removeAll { $0.gates == new.gates }
    }
    let index = answers.firstIndex { $0.day > new.day } ?? answers.count
    answers.insert(new, at: index)
    // Only an expired answer is evicted: without a current one the app could ask again.
    let day = day(new.day)
    if answers.count > Limits.ageAnswers,
      let old = answers.firstIndex(where: { !isCurrent($0, day) })
    {
      answers.remove(at: old)
    }
  }

  /// Whether the shared answers are true for a person born on this day.
  public func isTrue(born: Account.Day) -> Bool {
    guard let last else { return true }
    return known(last).contains(age(born: born, last))
  }
}
