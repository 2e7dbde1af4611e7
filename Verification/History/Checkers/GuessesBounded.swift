import FamilyModel

/// Checks that the relay evaluates no more guesses of a passcode than the table of delays allows,
/// on all devices of a family together, whatever crashes.
public struct GuessesBounded: Checker {
  public let name = "guesses of the passcode are bounded"
  /// Creates the checker.
  public init() {}

  private struct Count {
    var guesses = 0
    var last = Instant(milliseconds: 0)
    var element: [UInt8] = []
  }

  public func check(_ history: History) -> Verdict {
    var counts: [FamilyID: Count] = [:]
    for (index, fact) in history.facts {
      switch fact {
      case .guessesReset(let family): counts[family] = nil
      case .guessed(let family, let element, let now):
        let count = counts[family] ?? Count()
        // A repetition of the same request counts once.
        guard element != count.element else { continue }
        let above = count.guesses - Limits.passcodeGuesses
        if above >= 0 {
          let delay = Limits.passcodeDelays[min(above, Limits.passcodeDelays.count - 1)]
          guard now >= count.last + delay else {
            return .violated("a guess before its delay", at: index)
          }
        }
        counts[family] = Count(guesses: count.guesses + 1, last: now, element: element)
      default: break
      }
    }
    return .ok
  }
}
