import FamilyModel
import Testing

@testable import RelayPipeline

@Suite struct MemoryWatchTests {
  @Test("O4: each level begins at its part of the limit, and ends clearly below it")
  func levels() {
    var watch = MemoryWatch(limit: 1_600)
    var time = Milliseconds.zero
    func level(_ inUse: Int?) -> MemoryWatch.Level {
      time = time + MemoryWatch.interval
      watch.look(uptime: time) { inUse }
      return watch.level
    }
    #expect(level(1_199) == .normal && level(1_200) == .tight && level(1_399) == .tight)
    #expect(level(1_400) == .critical && level(1_300) == .critical && level(nil) == .critical)
    #expect(level(1_299) == .tight && level(1_100) == .tight && level(1_099) == .normal)
    #expect(level(2_000) == .critical && level(0) == .normal)
    // Between two looks nothing changes.
    watch.look(uptime: time) { 2_000 }
    #expect(watch.level == .normal)
    var off = MemoryWatch(limit: 0)
    off.look(uptime: .hours(1)) { .max }
    #expect(off.level == .normal)
  }
}
