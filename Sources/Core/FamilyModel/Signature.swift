/// A device's signature of a command. The administrator relays commands that devices signed.
///
/// The relay stores the signature with the event and cannot forge one.
public struct Signature: Hashable, Sendable {
  /// The device that signed.
  public var signer: DeviceID
  /// The history that the signer knew.
  public var known: Knowledge
  /// The last event of the family's audience that the signer knew.
  public var basedOnSeq: UInt64 {
    get { known.family.seq }
    set { known.family.seq = newValue }
  }
  /// The Ed25519 signature, 64 bytes.
  public var bytes: [UInt8] {
    get { withBytes { [UInt8]($0) } }
    set { newValue.withUnsafeBytes { value = Value($0) } }
  }
  /// Bytes of an Ed25519 signature.
  public static let byteCount = 64
  /// Inline storage: a copy counts no references.
  private var value: Value

  /// Creates a signature.
  ///
  /// Precondition: `bytes` has 64 bytes.
  public init(signer: DeviceID, knowing known: Knowledge, bytes: [UInt8]) {
    self = bytes.withUnsafeBytes { Signature(signer: signer, knowing: known, bytes: $0) }
  }

  /// Creates a signature that names no hash. Such signatures exist in tests and benchmarks only.
  package init(signer: DeviceID, basedOnSeq: UInt64, bytes: [UInt8]) {
    let known = Knowledge(family: ChainPosition(seq: basedOnSeq))
    self.init(signer: signer, knowing: known, bytes: bytes)
  }

  /// Creates a signature from 64 bytes in memory.
  package init(signer: DeviceID, knowing known: Knowledge, bytes: UnsafeRawBufferPointer) {
    self.signer = signer
    self.known = known
    value = Value(bytes)
  }

  /// Calls the body with the ``bytes``.
  package func withBytes<R>(_ body: (UnsafeRawBufferPointer) -> R) -> R {
    withUnsafeBytes(of: value, body)
  }

  /// The inline storage of 64 bytes. The type is not private because a private type's printed name
  /// differs between builds.
  struct Value: Hashable {
    var a, b, c, d: ID128

    init(_ bytes: UnsafeRawBufferPointer) {
      precondition(bytes.count == byteCount, "an Ed25519 signature has 64 bytes")
      func quarter(_ index: Int) -> ID128 {
        bytes.loadUnaligned(fromByteOffset: index * 16, as: ID128.self)
      }
      (a, b, c, d) = (quarter(0), quarter(1), quarter(2), quarter(3))
    }
  }
}
