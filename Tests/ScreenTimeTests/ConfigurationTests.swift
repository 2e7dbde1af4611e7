import Dispatch
import Foundation
import PermissionKitTesting
import ScreenTime
import Testing

@Suite(.timeLimit(.minutes(10))) struct ConfigurationTests {
  /// Waits until the observer has this configuration; `nil`: none.
  private func wait(
    until isRestricted: Bool, _ observer: STScreenTimeConfigurationObserver
  ) async {
    while observer.configuration?.enforcesChildRestrictions != isRestricted { await Task.yield() }
  }

  @Test("S5: a configuration follows the guardians' rules until the observer stops")
  func follows() async throws {
    let family = TestFamily()
    try await family.app {
      let observer = STScreenTimeConfigurationObserver(updateQueue: .main)
      #expect(observer.configuration == nil)
      observer.startObserving()
      await wait(until: false, observer)
      await family.organizer.setWebRules(.allow, sites: ["bad.example": .block])
      await wait(until: true, observer)
      await family.organizer.setWebRules(.allow)
      await wait(until: false, observer)
      observer.stopObserving()
      await family.organizer.setWebRules(.ask)
      let other = STScreenTimeConfigurationObserver(updateQueue: DispatchQueue(label: "test"))
      other.startObserving()
      await wait(until: true, other)
      #expect(observer.configuration?.enforcesChildRestrictions == false)
    }
  }

  @Test("S5: a restarted app has its configuration without its device")
  func restart() async throws {
    let family = TestFamily()
    await family.organizer.setWebRules(.ask)
    for _ in 0..<2 {
      try await family.app {
        let observer = STScreenTimeConfigurationObserver(updateQueue: .main)
        observer.startObserving()
        await wait(until: true, observer)
      }
    }
  }
}
