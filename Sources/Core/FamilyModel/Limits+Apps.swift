/// The limits of one app on its device. An app above a limit is refused with `appLimit`, unless the
/// comment states otherwise. Other apps are served as before.
extension Limits {
  /// Open prompts for the questions of one app.
  public static let appPrompts = 8
  /// Open prompts for the questions of all apps of a device.
  public static let devicePrompts = 32
  /// Default responses that one app has not handled.
  public static let defaultResponses = 64
  /// Bytes of one app's questions in open prompts and unhandled default responses.
  public static let appQuestionBytes = 4 * 1024 * 1024
  /// The same bytes of all apps of a device.
  public static let deviceQuestionBytes = 16 * 1024 * 1024
  /// Requests that an app may send at once. A request of many bytes counts as several.
  public static let requestBurst: Int64 = 512
  /// Requests per second that an app may send in the long run.
  public static let requestsPerSecond: Int64 = 64
  /// Bytes of a request that count as one more request.
  public static let requestUnitBytes = 16 * 1024
  /// Attachments of an app that the device handles at once. Above: the newest one waits.
  public static let attachmentBurst: Int64 = 32
  /// Attachments per second that the device handles in the long run. Above: the newest one waits.
  public static let attachmentsPerSecond: Int64 = 4
  /// Variables of the device's environment that an app's manifest may name. Above: the manifest is
  /// refused.
  public static let environmentNames = 16
  /// Stores of managed settings of one app. Above: the device refuses the store with `tooMany`.
  public static let managedStores = 50
  /// Sites in one store of managed settings. Above: `tooMany`, on the wire `tooLarge`.
  public static let managedSites = 50
  /// Apps in one store of managed settings. Above: `tooMany`, on the wire `tooLarge`.
  public static let blockedApps = 50
  /// Activities of one app. Above: the device refuses the activity with `tooMany`.
  public static let activities = 20
  /// Thresholds of one activity. Above: `tooMany`, on the wire `tooLarge`.
  public static let activityThresholds = 20
  /// The length of an activity's interval. Outside: the device refuses the activity with `activityLength`.
  ///
  /// The week of a change to winter time has an hour more.
  public static let activityLength =
    Milliseconds.minutes(15)...(Milliseconds.days(7) + .hours(1))
  /// Moments that an app has not acknowledged. Above: the device refuses further activities of the app with
  /// `appLimit`.
  public static let waitingMoments = 1_024
  /// The seconds of a threshold. Outside: `malformed`.
  public static let thresholdSeconds: ClosedRange<UInt32> = 1...604_800
  /// Bytes of the app library's description of a schedule. Above: the library refuses the schedule.
  public static let scheduleBytes = 4_096
  /// Connections of one app to its device. Above: the device closes the oldest one.
  public static let appConnections = 8
  /// Received messages that wait in one connection of an app. Above: the app's process waits.
  public static let appReceiveQueue: Int32 = 16
}

extension Question {
  /// The approximate bytes of memory that the question occupies.
  public var approximateBytes: Int {
    var bytes = 256
    switch topic {
    case .significantUpdate(let description): bytes += description.utf8.count
    case .browse(let site): bytes += site.name.utf8.count
    case .authorization: break
    case .communication(let people, _):
      for person in people {
        bytes += 128 + person.handle.value.utf8.count + (person.avatar?.bytes.count ?? 0)
        guard let name = person.name else { continue }
        for part in [
          name.prefix, name.given, name.middle, name.family, name.suffix, name.nickname,
        ] { bytes += part.utf8.count }
      }
    }
    return choices.reduce(bytes) { $0 + 64 + $1.id.utf8.count + $1.title.utf8.count }
  }
}
