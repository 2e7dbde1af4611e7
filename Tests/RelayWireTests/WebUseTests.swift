import FamilyCore
import FamilyModel
import Testing

@testable import RelayWire

struct WebUseTests {
  private let site = Site("example.co.uk")!
  private var day: WebDay {
    WebDay(
      Account.Day(year: 2026, month: 2, day: 28), seconds: 86_400, sites: [site: 7],
      isShortened: true)
  }

  private func decoded(_ bytes: [UInt8]) throws -> AppRequest {
    try bytes.withUnsafeBytes { bytes throws(Problem) in try AppRequest.decode(bytes) }
  }

  @Test("S5: messages, records and contents about the use of the web survive encoding")
  func roundTrips() throws {
    let requests: [AppRequest] = [
      .useWeb(1, ShownPages(seconds: 9, sites: [site: 9])), .useWeb(.max, ShownPages()),
      .deleteWebUse(2, .all), .deleteWebUse(3, .site(site)),
      .deleteWebUse(
        4, .days(from: Instant(milliseconds: 1), through: Instant(milliseconds: 2))),
    ]
    for request in requests { #expect(try decoded(request.encode()) == request) }
    let reply = try AppReply.webUsed(7).encode().withUnsafeBytes { bytes throws(Problem) in
      try AppReply.decode(bytes)
    }
    #expect(reply == .webUsed(7))
    for content: Content in [
      .webUse(WebUse([day], deletion: 3)), .webUse(WebUse([])), .webUseDeleted(nil),
      .webUseDeleted(site),
    ] {
      #expect(try Content.sealed(content.bytes).opened() == content)
    }
    let report = ReportedWebDay(day, stamp: ID128(high: 1, low: 2), deletion: 3)
    for record: DeviceRecord in [
      .webUse(AppID("a"), day, message: 5), .webReport(PersonID(3), DeviceID(30), report),
    ] {
      #expect(try DeviceRecord.decode(key: record.key.bytes, value: record.value) == record)
    }
    let deletion = AppRecord.webDeletion(8, .site(site))
    #expect(try AppRecord.decode(key: deletion.key, value: deletion.value) == deletion)
  }

  @Test("S5: times above a day, repeated sites and too many of them are refused")
  func bad() throws {
    func decode(_ change: (inout PBWebDay) -> Void) throws {
      var message = day.wire
      change(&message)
      let content = PBContent.with { $0.webUse.days = [message] }
      _ = try Content.sealed(Wire.encode(content)).opened()
    }
    try decode { _ in }
    #expect(throws: Problem.malformed) { try decode { $0.seconds = 86_401 } }
    #expect(throws: Problem.malformed) { try decode { $0.sites[0].seconds = 86_401 } }
    #expect(throws: Problem.malformed) { try decode { $0.sites.append($0.sites[0]) } }
    #expect(throws: Problem.malformed) { try decode { $0.sites[0].site = "Not A Site" } }
    #expect(throws: Problem.tooLarge) {
      try decode { message in
        message.sites = (0...Limits.webUseSites).map { number in
          .with { $0.site = "s\(number).example" }
        }
      }
    }
    let days = Array(repeating: day.wire, count: Limits.webUseDaysInReport + 1)
    let content = PBContent.with { $0.webUse.days = days }
    #expect(throws: Problem.tooLarge) { try Content.sealed(Wire.encode(content)).opened() }
  }

  @Test("S5: the largest report fits into a sealed content of an account")
  func largest() {
    let names = (0..<Limits.webUseSites).map { number in
      let head = "\(1_000 + number)."
      return head + String(repeating: "a", count: Limits.siteBytes - head.count)
    }
    var most = day
    most.sites = Dictionary(
      uniqueKeysWithValues: names.map { (Site($0)!, WebDay.longest) })
    let use = WebUse(Array(repeating: most, count: Limits.webUseDaysInReport), deletion: .max)
    #expect(Content.webUse(use).bytes.count + 256 <= Limits.accountContentBytes)
  }
}
