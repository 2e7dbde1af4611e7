import AppClient
import FamilyCore
import FamilyModel
import Foundation
import Testing

/// The first question of an app about a handle goes to the device, and later ones to the copy.
@Suite(.timeLimit(.minutes(10))) struct NamingTests {
  private let ada = Handle("ada", .custom)

  @Test("K2, K6: an app waits for the device's answer about a new handle, once")
  func once() async throws {
    let device = FakeDevice(isAlive: true)
    let session = try await AppSession.connected(device, nameWait: .seconds(600))
    async let known = session.known(of: [ada])
    while !device.requests.contains(.name([ada])) { await Task.yield() }
    device.tell(.named([ada]))
    #expect(await known == [])
    #expect(await session.known(of: [ada]) == [])
    #expect(device.requests.filter { $0 == .name([ada]) }.count == 1)
  }

  @Test("A8, K6: a device that does not answer leaves a new handle unknown after the limit")
  func silent() async throws {
    let device = FakeDevice(isAlive: true)
    let session = try await AppSession.connected(device, nameWait: .milliseconds(50))
    #expect(await session.known(of: [ada]) == [])
    #expect(device.requests.contains(.name([ada])))
  }

  @Test("A8, K6: a device that refuses the app leaves a new handle unknown at once")
  func refused() async throws {
    let device = FakeDevice(isAlive: true)
    var timing = SessionTiming()
    timing.nameWait = .seconds(600)
    let session = try AppSession.with(device, timing)
    device.connect()
    async let known = session.known(of: [ada])
    while !device.requests.contains(.name([ada])) { await Task.yield() }
    device.tell(.failed(.ratedAbove))
    #expect(await known == [])
    #expect(await session.known(of: [Handle("ben", .custom)]) == [])
    // The device admits the app again.
    device.tell(.attached(acknowledged: 0))
    device.tell(.named([ada]))
    device.tell(.caughtUp)
    #expect(await session.untilCaughtUp(within: .seconds(10)))
    #expect(await session.known(of: [ada]) == [])
  }

  @Test("K2, K6: without a device the answer comes at once, and the app names the handle later")
  func away() async throws {
    let device = FakeDevice(isAlive: true)
    let session = try AppSession.with(device, SessionTiming())
    #expect(await session.known(of: [ada]) == [])
    #expect(device.requests == [])
    device.connect()
    while !device.requests.contains(.name([ada])) { await Task.yield() }
  }
}
