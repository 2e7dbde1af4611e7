import FamilyModel
import Testing

/// The durations of the wall clock.
struct MillisecondsTests {
  @Test("converts units to milliseconds") func units() {
    #expect(Milliseconds.milliseconds(250).count == 250)
    #expect(Milliseconds.seconds(2).count == 2_000)
    #expect(Milliseconds.minutes(3) == .seconds(180))
    #expect(Milliseconds.hours(2) == .minutes(120))
    #expect(Milliseconds.days(1) == .hours(24))
    #expect(Milliseconds.milliseconds(UInt64.max) == .max)
  }

  @Test("saturates at both ends") func saturation() {
    let least = Milliseconds(.min)
    #expect(Milliseconds.max + .milliseconds(1) == .max)
    #expect(least + .milliseconds(-1) == least)
    #expect(least - .milliseconds(1) == least)
    #expect(Milliseconds.max - .milliseconds(-1) == .max)
    #expect(-least == .max)
    #expect(Milliseconds.max * 2 == .max && Milliseconds.max * -2 == least)
    #expect(least * 2 == least && least * -1 == .max)
    #expect(Milliseconds.days(Int64.max) == .max && Milliseconds.days(Int64.min) == least)
  }

  @Test("scales, divides and compares") func scaling() {
    #expect(Milliseconds.seconds(2) * 4 == .seconds(8))
    #expect(Milliseconds.seconds(2) / 4 == .milliseconds(500))
    #expect(Milliseconds.milliseconds(2_999) / .seconds(1) == 2)
    #expect(Milliseconds.milliseconds(999) < .seconds(1))
  }

  @Test("moves moments and measures between them") func moments() {
    let now = Instant(milliseconds: 10_000)
    let (first, last) = (Instant(milliseconds: .min), Instant(milliseconds: .max))
    #expect(now + .seconds(5) == Instant(milliseconds: 15_000))
    #expect(now - .seconds(5) == Instant(milliseconds: 5_000))
    #expect(Instant(milliseconds: 15_000) - now == .seconds(5))
    #expect(now - Instant(milliseconds: 15_000) == .seconds(-5))
    #expect(last + .milliseconds(1) == last && first - .milliseconds(1) == first)
    #expect(last - first == .max && first - last == Milliseconds(.min))
  }

  @Test("converts from and to the standard library's durations") func durations() {
    #expect(Milliseconds(Duration.seconds(2)) == .seconds(2))
    #expect(Milliseconds(Duration.microseconds(1_999)) == .milliseconds(1))
    #expect(Milliseconds(Duration.seconds(Int64.max)) == .max)
    #expect(Duration(Milliseconds.milliseconds(1_500)) == .milliseconds(1_500))
  }
}
