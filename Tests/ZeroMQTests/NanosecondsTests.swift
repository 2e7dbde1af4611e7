import Testing

@testable import ZeroMQ

@Suite struct NanosecondsTests {
  @Test("converts units to nanoseconds") func units() {
    #expect(Nanoseconds.microseconds(3).count == 3_000)
    #expect(Nanoseconds.milliseconds(3) == .microseconds(3_000))
    #expect(Nanoseconds.seconds(3) == .milliseconds(3_000))
    #expect(Nanoseconds.seconds(0.25) == .milliseconds(250))
    #expect(Nanoseconds.milliseconds(1_500).seconds == 1.5)
    #expect(Nanoseconds.microseconds(1_999).milliseconds == 1)
    #expect(Nanoseconds.microseconds(1_001).millisecondsRoundedUp == 2)
    #expect(Nanoseconds.milliseconds(2).millisecondsRoundedUp == 2)
  }

  @Test("saturates at both ends") func saturation() {
    let longest = Nanoseconds(.max)
    #expect(longest + Nanoseconds(1) == longest && longest * 2 == longest)
    #expect(Nanoseconds.zero - Nanoseconds(1) == .zero)
    #expect(Nanoseconds.seconds(-1) == .zero && Nanoseconds.seconds(-1.5) == .zero)
    #expect(Nanoseconds.seconds(Int64.max) == longest)
    #expect(Nanoseconds.seconds(1e300) > .seconds(18_000_000_000))
  }

  @Test("moves moments and measures between them") func moments() {
    let moment = MonotonicInstant(nanoseconds: 5_000)
    #expect(moment + .microseconds(1) == MonotonicInstant(nanoseconds: 6_000))
    #expect(moment - .seconds(1) == .machineStart)
    #expect(.distantFuture + .seconds(1) == .distantFuture)
    #expect(MonotonicInstant(nanoseconds: 6_000) - moment == .microseconds(1))
    #expect(moment - MonotonicInstant(nanoseconds: 6_000) == .zero)
    #expect(MonotonicInstant.now <= .now)
  }

  @Test("converts from and to the standard library's durations") func durations() {
    #expect(Nanoseconds(Duration.milliseconds(1_500)) == .milliseconds(1_500))
    #expect(Nanoseconds(Duration.milliseconds(-1_500)) == .zero)
    #expect(Nanoseconds(Duration.seconds(Int64.max)) == Nanoseconds(.max))
    #expect(Duration(Nanoseconds.milliseconds(7)) == .milliseconds(7))
  }
}
