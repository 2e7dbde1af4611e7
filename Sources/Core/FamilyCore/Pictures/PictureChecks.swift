import FamilyModel

/// The pictures of apps that the device's worker checks.
///
/// - requested → `running` → (verdict) answered.
/// - `running` → (the app's connection ends) abandoned → (verdict) dropped.
/// - abandoned → (the app repeats the request) `running`.
///
/// An abandoned check counts until its verdict, so that reconnects free no room.
struct PictureChecks: Sendable {
  /// A check that has no verdict yet.
  struct Check: Sendable {
    let app: AppID
    /// The number that the app chose.
    let number: UInt64
    let picture: Avatar
    var isAbandoned = false
  }

  private var checks: [UInt64: Check] = [:]
  private var last: UInt64 = 0

  /// Starts a check, or joins the running one that the app repeats.
  ///
  /// - Returns: The number of a new check; `nil`: the app repeats a running check.
  /// - Throws: `tooManyPictures`, or `malformed` for another picture with the number of a running check.
  mutating func start(
    _ picture: Avatar, _ number: UInt64, of app: AppID
  ) throws(Problem) -> UInt64? {
    if let id = checks.first(where: { $0.value.app == app && $0.value.number == number })?.key {
      guard checks[id]?.picture == picture else { throw .malformed }
      checks[id]?.isAbandoned = false
      return nil
    }
    let own = checks.values.filter { $0.app == app }
    let bytes = own.reduce(picture.bytes.count) { $0 + $1.picture.bytes.count }
    guard own.count < Limits.appPictures, bytes <= Limits.appPictureBytes,
      checks.count < Limits.devicePictures
    else { throw .tooManyPictures }
    last += 1
    checks[last] = Check(app: app, number: number, picture: picture)
    return last
  }

  /// Abandons the app's checks, because its connection ended.
  mutating func abandonAll(of app: AppID) {
    for (id, check) in checks where check.app == app { checks[id]?.isAbandoned = true }
  }

  /// Ends a check; returns it unless it was abandoned.
  mutating func end(_ id: UInt64) -> Check? {
    guard let check = checks.removeValue(forKey: id), !check.isAbandoned else { return nil }
    return check
  }
}
