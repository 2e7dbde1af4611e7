/// An answer that an app got, as the person's devices remember it (D8).
public struct AgeAnswer: Hashable, Sendable {
  /// The gates, as they counted.
  public var gates: [Int32]
  /// The day of the answer.
  public var day: Account.Day
  /// What the app was told, without controls, which are told as they are now; `nil`: declined.
  public var range: AgeRange?
  /// The ages that are possible for who has seen this answer and those before it of the same year.
  public var known: AgeSpan
  /// An answer of these parts.
  public init(gates: [Int32], day: Account.Day, range: AgeRange?, known: AgeSpan = AgeSpan()) {
    self.gates = gates
    self.day = day
    self.range = range
    self.known = known
  }
}

/// What one app was told (D8, D10).
///
/// Everything that the app learns is about the person's age on one day, the anchor: the day of the first
/// answer that shared something. On its anniversaries the age counts one year more, and on no other day
/// anything changes. So however often it asks, people whose ages were equal on that day are the same
/// to it: a birthday can be narrowed to a year, and to nothing less.
public struct AgeMemory: Hashable, Sendable {
  /// The day of the first answer that shared something.
  public private(set) var anchor: Account.Day?
  /// The latest day of an answer that shared something.
  public private(set) var last: Account.Day?
  /// The answers, one for each set of gates, in the order of their days.
  public private(set) var answers: [AgeAnswer] = []
  /// Nothing was told.
  public init() {}

  /// Today, for this app: a clock that was set back changes nothing.
  public func day(_ today: Account.Day) -> Account.Day {
    max(today, last ?? today)
  }

  /// Whether the answer still holds: shared ones until the anchor's next anniversary, declined ones until
  /// their own.
  public func isCurrent(_ answer: AgeAnswer, _ day: Account.Day) -> Bool {
    guard answer.range != nil, let anchor else { return answer.day.years(to: day) < 1 }
    return anchor.years(to: answer.day) >= anchor.years(to: day)
  }

  /// The answer to these gates, of whatever day.
  public func answer(to gates: [Int32]) -> AgeAnswer? { answers.first { $0.gates == gates } }

  /// The age that counts on this day: that of the latest anniversary of the anchor (D8).
  ///
  /// Anniversaries are added, and the birthday is not looked at again: where one of the two is a 29 February,
  /// the age of an anniversary may be another one than the sum, and would say so.
  public func age(born: Account.Day, _ day: Account.Day) -> Int32 {
    guard let anchor else { return born.years(to: day) }
    return born.years(to: anchor) + anchor.years(to: day)
  }

  /// Whether as many answers hold as are remembered: a further one is refused.
  public func isFull(_ day: Account.Day) -> Bool {
    answers.count { isCurrent($0, day) } >= Limits.ageAnswers
  }

  /// What the app knows of the age that counts, from this year's answers.
  public func known(_ day: Account.Day) -> AgeSpan {
    answers.filter { $0.range != nil && isCurrent($0, day) }
      .reduce(AgeSpan()) { $0.intersection($1.known) }
  }

  /// The latest range that was shared and still holds.
  public func latest(_ day: Account.Day) -> AgeRange? {
    answers.last { $0.range != nil && isCurrent($0, day) }?.range
  }

  /// Takes an answer of this or another device. The order is that of the person's log, so that all devices
  /// come to the same: where two answered before they knew of each other, the first one holds.
  public mutating func note(_ new: AgeAnswer) {
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
    // What still holds stays: forgotten, it would let the app ask once more.
    let day = day(new.day)
    if answers.count > Limits.ageAnswers,
      let old = answers.firstIndex(where: { !isCurrent($0, day) })
    {
      answers.remove(at: old)
    }
  }

  /// Whether what was told is still true for somebody who was born on this day.
  public func isTrue(born: Account.Day) -> Bool {
    guard let last else { return true }
    return known(last).contains(age(born: born, last))
  }
}
