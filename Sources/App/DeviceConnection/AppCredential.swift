/// The keys and the address with which an app reaches its device.
///
/// The device writes the file as JSON (mode 0600). A person who starts the app names the file by its
/// path. An app that the device launches inherits the open file, because it may not read the
/// device's folder.
@_documentation(visibility: internal)
public struct AppCredential: Codable, Sendable {
  /// The environment variable with the file's path, or `fd:` and the number of an open descriptor.
  public static let variable = "PERMISSION_RELAY_DEVICE"
  /// The variable's value in a launched app.
  public static let inherited = "\(descriptorPrefix)3"
  /// The prefix of a descriptor's number.
  public static let descriptorPrefix = "fd:"

  /// The app's bundle identifier.
  public var app: String
  /// The family of the device's owner; zero for a person without a family.
  public var family: UInt64
  /// The person number of the device's owner.
  public var person: UInt32
  /// The organizer's Ed25519 public key, 32 bytes, or none for a person without a family.
  ///
  /// The app keeps the first key and rejects a device that names another one. The app trusts every
  /// other key of the family through signatures that start from this key.
  public var organizerKey: [UInt8]
  /// The device's ZeroMQ endpoint.
  public var endpoint: String
  /// The device's CURVE public key, 40 characters of Z85.
  public var devicePublicKey: String
  /// The app's CURVE public key, 40 characters of Z85.
  public var publicKey: String
  /// The app's CURVE secret key, 40 characters of Z85.
  public var secretKey: String
  /// The path of the folder for the app's store.
  public var storage: String
  /// The path of `content-decoder`, which decodes pictures and videos; `nil` for none beside the device's program.
  public var decoder: String?

  /// Creates a credential. No field is validated.
  public init(
    app: String, family: UInt64, person: UInt32, organizerKey: [UInt8], endpoint: String,
    devicePublicKey: String, publicKey: String, secretKey: String,
    storage: String, decoder: String? = nil
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
    self.decoder = decoder
  }
}
