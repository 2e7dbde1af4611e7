import AppClient
import FamilyCore
import FamilyModel
import Foundation
import SystemClock
import Testing

/// The way of a response, as people see it.
@Suite(.timeLimit(.minutes(20))) struct DeliveryReportTests {
  private func expectHandled(_ device: RealDevice, _ question: String) async throws {
    let session = try await device.session()
    Task { await session.run() }
    let loop = session.openLoop(.communication)
    var deliveries = loop.deliveries.makeAsyncIterator()
    await loop.requestNext()
    let delivery = await deliveries.next()
    loop.received(try #require(delivery).position)
    await loop.requestNext()
    #expect(try await device.shows("\(question) handled"))
  }

  private let id = Question.about("ada").id.uuid.uuidString

  @Test("R6: shows a response that waits, the failed launches, the next one, and the end")
  func crashes() async throws {
    let device = RealDevice(app: "exit 3")
    try await device.run { _ in
      do {
        let session = try await device.session()
        let running = Task { await session.run() }
        _ = try await session.ask(.about("ada"), .choose)
        #expect(try await device.shows("connected, has not handled its responses"))
        running.cancel()
        await session.close()
      }
      #expect(try await device.shows("last launch exited with status 3"))
      #expect(try await device.shows("launches without handling:"))
      #expect(try await device.shows("next launch in"))
      #expect(try await device.shows("\(id) waits"))
      try await expectHandled(device, id)
    }
  }
}
