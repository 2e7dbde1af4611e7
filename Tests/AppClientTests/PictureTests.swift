import AppClient
import DeviceConnection
import FamilyCore
import FamilyModel
import Foundation
import Testing

/// The check of pictures between an app and its device.
@Suite(.timeLimit(.minutes(10))) struct PictureTests {
  private let picture = Avatar(mediaType: "image/png", bytes: [1, 2, 3])

  /// The number of the first request for a check.
  private func number(_ device: FakeDevice) async -> UInt64 {
    while true {
      for case .analyze(let number, _) in device.requests { return number }
      await Task.yield()
    }
  }

  @Test("S2: a verdict ends the call of its number, and no other")
  func verdict() async throws {
    let device = FakeDevice(isAlive: true)
    let session = try await AppSession.connected(device, nameWait: .seconds(600))
    async let analysis = session.analyze(picture)
    let number = await number(device)
    device.tell(.analyzed(number &+ 1, .checked(isSensitive: false)))
    device.tell(.analyzed(number, .checked(isSensitive: true)))
    #expect(try await analysis == .checked(isSensitive: true))
  }

  @Test("S2: a silent device ends the call with problem 420, and a cancelled task ends at once")
  func silent() async throws {
    var timing = SessionTiming()
    timing.deviceSilence = .milliseconds(200)
    timing.devicePing = .milliseconds(50)
    let device = FakeDevice(isAlive: false)
    let session = try AppSession.with(device, timing)
    device.connect()
    let error = await #expect(throws: DeviceProblem.self) {
      _ = try await session.analyze(picture)
    }
    #expect(error?.number == 420)
    let living = FakeDevice(isAlive: true)
    let other = try await AppSession.connected(living, nameWait: .seconds(600))
    let call = Task { try await other.analyze(picture) }
    _ = await number(living)
    call.cancel()
    await #expect(throws: CancellationError.self) { _ = try await call.value }
  }

  @Test("S2, X2: a real child-agent answers; after kill -9 the setting stays, and calls fail")
  func real() async throws {
    let device = RealDevice(app: "exit 0")
    try await device.run { process in
      let session = try await device.session()
      Task { await session.run() }
      #expect(session.safety == nil)
      await session.requestSafety()
      // A person without a family has the check off.
      while session.safety != .off { await Task.yield() }
      #expect(try await session.analyze(picture) == .failed(.picturesNotChecked))
      kill(process, SIGKILL)
      let error = await #expect(throws: DeviceProblem.self) {
        _ = try await session.analyze(picture)
      }
      #expect(error?.number == 420 && session.safety == .off)
    }
  }
}
