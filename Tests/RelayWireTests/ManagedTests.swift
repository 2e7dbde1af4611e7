import FamilyCore
import FamilyModel
import RelayWire
import Testing

/// Questions for an authorization, and managed settings, on the wire and in stores.
@Suite struct ManagedTests {
  private static let site = Site("example.co.uk")!

  private static func settings(_ filter: ManagedSettings.SiteFilter) -> ManagedSettings {
    var settings = ManagedSettings()
    settings.sites = filter
    settings.blockedApps = [AppID("example.games"), AppID("example.chat")]
    settings.deniesPeople = true
    return settings
  }

  @discardableResult
  private static func decoded(_ bytes: [UInt8]) throws -> AppRequest {
    try bytes.withUnsafeBytes { bytes throws(Problem) in try AppRequest.decode(bytes) }
  }

  @Test("S3: a question for an authorization travels, and its handle is valid")
  func question() throws {
    let question = Question(id: QuestionID(high: 1, low: 3), topic: .authorization)
    let request = AppRequest.ask(question, .choose)
    let bytes = request.encode()
    let decoded = try Self.decoded(bytes)
    #expect(decoded == request)
    try Handle.authorization.validate()
    #expect(throws: Problem.badHandle) { try Handle("other", .authorization).validate() }
  }

  @Test(
    "S3: decoding inverts encoding for managed settings, in messages and records",
    arguments: [
      ManagedSettings.SiteFilter.none, .specific([site]), .all(except: [site]), .all(except: []),
    ])
  func settings(_ filter: ManagedSettings.SiteFilter) throws {
    let settings = Self.settings(filter)
    let request = AppRequest.manage("store", settings)
    let bytes = request.encode()
    let decoded = try Self.decoded(bytes)
    #expect(decoded == request)
    let own: AppRecord = .managed("store", settings)
    for record in [own, .authorizationDenied] {
      let found = try AppRecord.decode(key: record.key, value: record.value)
      #expect(found == record)
    }
    let record = DeviceRecord.managed(AppID("example.parents"), "store", settings)
    let found = try DeviceRecord.decode(key: record.key.bytes, value: record.value)
    #expect(found == record)
  }

  @Test("S3: the device's answer about a store travels")
  func replies() throws {
    for problem in [nil, Problem.notAuthorized] {
      let reply = AppReply.managed("store", problem)
      let bytes = reply.encode()
      let decoded = try bytes.withUnsafeBytes { bytes throws(Problem) in
        try AppReply.decode(bytes)
      }
      #expect(decoded == reply)
    }
  }

  @Test("S3: a message above the limits of a store is refused")
  func limits() {
    let sites = (0...Limits.managedSites).map { Site("s\($0).example")! }
    var many = ManagedSettings()
    many.sites = .specific(Set(sites))
    var apps = ManagedSettings()
    apps.blockedApps = Set((0...Limits.blockedApps).map { AppID("app\($0)") })
    for settings in [many, apps] {
      let bytes = AppRequest.manage("store", settings).encode()
      #expect(throws: Problem.tooLarge) { try Self.decoded(bytes) }
    }
  }
}
