/// What an app needs to reach its device. The device writes the file (mode 0600) before it launches the
/// app, and names it in the environment.
public struct AppCredential: Codable, Sendable {
  /// The variable of the environment that names the file.
  public static let variable = "PERMISSION_RELAY_DEVICE"

  /// The app's bundle identifier.
  public var app: String
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
    app: String, endpoint: String, devicePublicKey: String, publicKey: String, secretKey: String,
    storage: String
  ) {
    self.app = app
    self.endpoint = endpoint
    self.devicePublicKey = devicePublicKey
    self.publicKey = publicKey
    self.secretKey = secretKey
    self.storage = storage
  }
}
