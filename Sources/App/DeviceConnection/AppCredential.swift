/// What an app needs to reach its device. The device writes the file (mode 0600) before it launches the
/// app, and names it in the environment.
public struct AppCredential: Codable, Sendable {
  /// The variable of the environment that names the file.
  public static let variable = "PERMISSION_RELAY_DEVICE"

  /// The app's bundle identifier.
  public var app: String
  /// The family of the device's owner; zero: none.
  public var family: UInt64
  /// The device's owner.
  public var person: UInt32
  /// The Ed25519 key of the family's organizer, which the app keeps: what it believes is signed from this key
  /// on. Empty in no family group.
  public var organizerKey: [UInt8]
  /// Where the device listens.
  public var endpoint: String
  /// The device's key, as Z85.
  public var devicePublicKey: String
  /// The app's key, as Z85.
  public var publicKey: String
  /// The app's secret key, as Z85.
  public var secretKey: String
  /// The app's folder.
  public var storage: String

  /// A credential of these parts.
  public init(
    app: String, family: UInt64, person: UInt32, organizerKey: [UInt8], endpoint: String,
    devicePublicKey: String, publicKey: String, secretKey: String,
    storage: String
  ) {
    self.app = app
    self.family = family
    self.person = person
    self.organizerKey = organizerKey
    self.endpoint = endpoint
    self.devicePublicKey = devicePublicKey
    self.publicKey = publicKey
    self.secretKey = secretKey
    self.storage = storage
  }
}
