import FamilyModel
import Testing

@testable import RelayPipeline

@Suite struct SpaceWatchTests {
  @Test("O3: a disk is full below its reserve, and roomy again a quarter above it")
  func states() {
    var watch = SpaceWatch(reserve: 100)
    var states: [Bool] = []
    for (second, free) in [100, 99, 100, 124, 125, 100, 50, nil, 130].enumerated() {
      _ = watch.look(uptime: .seconds(second)) { free }
      states.append(watch.isFull)
    }
    #expect(states == [false, true, true, true, false, false, true, true, false])
  }

  @Test("O3: a watch checks the disk once a second, and never without a reserve")
  func interval() {
    var looks = 0
    var watch = SpaceWatch(reserve: 100)
    for step in 0..<100 {
      _ = watch.look(uptime: .milliseconds(step * 100)) {
        looks += 1
        return 0
      }
    }
    #expect(looks == 10)
    var off = SpaceWatch(reserve: 0)
    #expect(!off.look(uptime: .zero) { 0 } && !off.isFull)
  }
}
