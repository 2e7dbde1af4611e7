public import FamilyModel

/// The setting for sensitive pictures, and the check of pictures for apps.
///
/// - A device that has not read the owner's settings reports no setting, and checks pictures.
/// - Each change of the setting is reported once to the apps that have requested the setting.
///
/// The machine keeps a picture until its verdict, in memory alone.
extension ChildMachine {
  /// The owner's setting for sensitive pictures; `nil` before the device has read it. The setting is off
  /// for an adult and without a family.
  public var communicationSafety: CommunicationSafety? {
    guard isInFamily else { return .off }
    guard link.hasReadSafety else { return nil }
    guard link.person?.role == .child else { return .off }
    return link.settings(of: link.personID).communicationSafety
  }

  /// Reports the setting to the apps that do not know it. A removed device reports nothing.
  mutating func reportSafety(effects: inout [DeviceEffect]) {
    guard feeds.contains(where: { $0.safety != nil }), !link.isShutOut,
      let setting = communicationSafety
    else { return }
    for index in feeds.indices {
      if let effect = feeds[index].report(setting) { effects.append(effect) }
    }
  }

  /// Starts the check of a picture, or refuses it.
  mutating func analyze(
    _ picture: Avatar, _ number: UInt64, of app: AppID, effects: inout [DeviceEffect]
  ) {
    do throws(Problem) {
      if link.isShutOut { throw .notEnrolled }
      if communicationSafety == .off { throw .picturesNotChecked }
      try picture.validate()
      guard let check = try pictures.start(picture, number, of: app) else { return }
      effects.append(.checkPicture(check, picture))
    } catch {
      effects.append(.app(app, .analyzed(number, .failed(error))))
    }
  }

  /// Answers the app whose picture has a verdict, unless the app has left.
  mutating func pictureChecked(
    _ check: UInt64, _ analysis: PictureAnalysis, effects: inout [DeviceEffect]
  ) {
    guard let check = pictures.end(check) else { return }
    effects.append(.app(check.app, .analyzed(check.number, analysis)))
  }

  /// Records that the app's connection ended or, if `exited`, its process.
  mutating func disconnected(_ app: AppID, exited: Bool, now: Instant) {
    ageRequests.removeAll(of: app)
    pictures.abandonAll(of: app)
    update(app) { $0.disconnected(exited: exited, now: now) }
  }
}
