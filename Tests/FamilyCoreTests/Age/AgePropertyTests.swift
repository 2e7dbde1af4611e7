@testable import FamilyCore
import FamilyModel
import TestThreads
import Testing

/// The number of histories that each of these tests checks.
private let histories: UInt64 = 10_000

/// The histories are played once for all tests.
private let played = {
  var played: [(history: AgeHistory, seen: [AgeHistory.Seen])] = []
  for seed in 1...histories {
    let history = AgeHistory(seed: seed)
    played.append((history, history.play(born: history.born)))
  }
  return played
}()

/// The app's knowledge of the age in one year after the anchor, from the answers of that year.
private struct Knowledge {
  let history: AgeHistory
  var possible = Set(Int32(-3)...60)

  mutating func learn(_ range: AgeRange) {
    let majority = history.law(history.made).majority
    possible = possible.filter { age in
      guard age >= range.lower ?? .min, age <= range.upper ?? .max else { return false }
      let told = history.declaration.disclosed(
        age: age, majority: majority, isInFamily: history.isInFamily)
      return range.declaration == nil || range.declaration == told
    }
  }
}

@Suite(.serialized, .ownThread) struct AgePropertyTests {
  /// Records a failure with its seed, so that one line replays it.
  private func forEach(_ body: (AgeHistory, [AgeHistory.Seen]) -> String?) {
    for (history, seen) in played {
      if let failure = body(history, seen) {
        Issue.record("AgeHistory(seed: \(history.seed)): \(failure)")
        return
      }
    }
  }

  @Test(
    "D3, D8: an answer contains the true age or, until the anniversary, one year less"
  ) func trueAge() {
    forEach { history, seen in
      guard let anchor = AgeHistory.anchor(seen) else { return nil }
      var latest = anchor
      for answer in seen {
        guard let range = answer.range else { continue }
        latest = max(latest, answer.day)
        // The checker counts the anniversaries independently.
        var anniversaries: Int32 = 0
        while anchor.years(to: latest) > anniversaries { anniversaries += 1 }
        let counted = history.born.years(to: anchor) + anniversaries
        guard counted >= range.lower ?? .min, counted <= range.upper ?? .max else {
          return "\(counted) is not in \(range) on \(answer.day)"
        }
        guard 0...1 ~= history.born.years(to: latest) - counted else {
          return "\(counted) is too far from the true age on \(latest)"
        }
        if latest == anchor, counted != history.born.years(to: anchor) { return "not the true age" }
      }
      return nil
    }
  }

  @Test(
    "D8: persons of one age on the day of the first answer stay indistinguishable to the app"
  )
  func birthday() {
    var told = 0
    forEach { history, seen in
      guard let anchor = AgeHistory.anchor(seen) else { return nil }
      for twin in history.twins(on: anchor) {
        told += 1
        if history.play(born: twin) != seen { return "\(twin) is told apart from \(history.born)" }
      }
      return nil
    }
    #expect(told > histories / 2)
  }

  @Test("D8: the answers of one year leave at least two possible ages") func twoAges() {
    forEach { history, seen in
      guard let anchor = AgeHistory.anchor(seen) else { return nil }
      var years: [Int32: Knowledge] = [:]
      var latest = anchor
      for answer in seen {
        guard let range = answer.range else { continue }
        latest = max(latest, answer.day)
        let year = anchor.years(to: latest)
        years[year, default: Knowledge(history: history)].learn(range)
        let possible = years[year]!.possible
        if possible.count < 2 { return "\(possible) is all that is left on \(latest)" }
      }
      return nil
    }
  }

  @Test(
    "D8: omissions reveal no more than answers: no age has a unique sequence of observations"
  )
  func groups() {
    for seed in 1...600 as ClosedRange<UInt64> {
      let history = AgeHistory(seed: seed, isWithinYear: true)
      let ages: [[AgeHistory.Seen]] = (Int32(0)...25).map { age in
        let start = history.steps[0].day
        return history.play(born: day(start.year - age, start.month, min(start.day, 28)))
      }
      for age in 1...24 where ages[age] != ages[age - 1] && ages[age] != ages[age + 1] {
        Issue.record("AgeHistory(seed: \(seed), isWithinYear: true): \(age) is alone")
        return
      }
    }
  }

  @Test("D1, D2: every bounded range spans two years and shows no age above majority")
  func bounds() {
    forEach { history, seen in
      let majority = history.law(history.made).majority
      for range in seen.compactMap(\.range) {
        if let lower = range.lower, let upper = range.upper, upper - lower < 1 {
          return "\(range) is too narrow"
        }
        if range.lower ?? 0 > majority || range.upper ?? 0 >= majority {
          return "\(range) shows an age above \(majority)"
        }
        if !range.controls.isEmpty, range.upper == nil { return "controls of an adult" }
      }
      return nil
    }
  }

  @Test("D8: repeats a shared answer without a prompt or a notification")
  func cached() {
    var repeated = 0
    forEach { history, seen in
      guard let anchor = AgeHistory.anchor(seen) else { return nil }
      var latest = anchor
      var shared: [[Int32]: (year: Int32, range: AgeRange)] = [:]
      for (index, answer) in seen.enumerated() {
        if answer.range != nil { latest = max(latest, answer.day) }
        let year = anchor.years(to: max(latest, answer.day))
        let before = index == 0 ? nil : seen[index - 1]
        // The law replaces the gates of the request.
        let law = history.law(answer.day)
        let gates = law.gates(for: answer.gates)
        if let old = shared[gates], old.year == year {
          repeated += 1
          if answer.prompts != before?.prompts ?? 0 || answer.notices != before?.notices ?? 0 {
            return "asked again on \(answer.day)"
          }
          if let range = answer.range,
            [range.lower, range.upper] != [old.range.lower, old.range.upper]
              || range.declaration != old.range.declaration
          {
            return "another answer on \(answer.day)"
          }
        } else if let range = answer.range {
          shared[gates] = (year, range)
        } else if answer.prompts > before?.prompts ?? 0 {
          // The person declines in a later year, by a clock that may be set back.
          shared[gates] = nil
        }
      }
      return nil
    }
    #expect(repeated > histories / 4)
  }
}
