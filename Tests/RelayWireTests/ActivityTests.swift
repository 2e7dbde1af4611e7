import FamilyCore
import FamilyModel
import RelayWire
import Testing

/// Activities on the wire and in stores.
@Suite struct ActivityTests {
  private static let activity = Activity(
    "bedtime", number: 8, from: Instant(milliseconds: 1_000), to: Instant(milliseconds: 3_601_000),
    warning: 300,
    thresholds: [
      Activity.Threshold("games", seconds: 600, sites: [Site("example.co.uk")!]),
      Activity.Threshold("all", seconds: 1_200),
    ])

  @Test("S3: decoding inverts encoding for activities, in messages and records")
  func activities() throws {
    for request in [AppRequest.watch(Self.activity), .unwatch("bedtime")] {
      let decoded = try request.encode().withUnsafeBytes { bytes throws(Problem) in
        try AppRequest.decode(bytes)
      }
      #expect(decoded == request)
    }
    let time = Instant(milliseconds: 9)
    for reply in [
      AppReply.watched("bedtime", 8, nil, at: time),
      .watched("bedtime", 8, .activityOver, at: time),
    ] {
      let decoded = try reply.encode().withUnsafeBytes { bytes throws(Problem) in
        try AppReply.decode(bytes)
      }
      #expect(decoded == reply)
    }
    let own = AppRecord.activity(
      PlannedActivity(Self.activity, schedule: [1, 2, 3], isConfirmed: true))
    #expect(try AppRecord.decode(key: own.key, value: own.value) == own)
    var watched = WatchedActivity(Self.activity)
    watched.isStartWarned = true
    watched.isStarted = true
    watched.uses[1].seconds = 900
    watched.uses[1].isWarned = true
    watched.counted = [AppID("a"): 7, AppID("b"): 9]
    let record = DeviceRecord.activity(AppID("example.parents"), watched)
    #expect(try DeviceRecord.decode(key: record.key.bytes, value: record.value) == record)
  }

  @Test(
    "S3: decoding inverts encoding for each moment",
    arguments: [
      ActivityMoment.startsSoon, .started, .endsSoon, .ended, .reachesSoon("games"),
      .reached("games"),
    ])
  func moments(_ moment: ActivityMoment) throws {
    let entry = AppEntry(
      position: 7, body: .activity("bedtime", 8, moment, at: Instant(milliseconds: 9)))
    let record = DeviceRecord.entry(AppID("a"), entry)
    #expect(try DeviceRecord.decode(key: record.key.bytes, value: record.value) == record)
  }

  @Test("S3: a message above the limits of an activity is refused")
  func limits() {
    var many = Self.activity
    many.thresholds = (0...Limits.activityThresholds).map {
      Activity.Threshold("\($0)", seconds: 1)
    }
    var sites = Self.activity
    sites.thresholds[0].sites = Set((0...Limits.managedSites).map { Site("s\($0).example")! })
    for activity in [many, sites] {
      let bytes = AppRequest.watch(activity).encode()
      #expect(throws: Problem.tooLarge) {
        try bytes.withUnsafeBytes { bytes throws(Problem) in try AppRequest.decode(bytes) }
      }
    }
  }
}
