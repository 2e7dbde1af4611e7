import FamilyCore
import FamilyModel
import RelayStore
import RelayWire
import Synchronization

/// Cheap cryptography without secrecy, with the sizes of the real one. Verification and opening
/// still fail for another key, other bytes or another binding.
struct FakeVault: DeviceVault {
  let signingKey: [UInt8]
  let agreementKey: [UInt8]
  /// The source of the run's content keys.
  let keys: KeyMaker

  final class KeyMaker: Sendable {
    private let random: Mutex<SeededRandom>
    /// The check that the run leaves out.
    let mutant: Mutant?
    init(seed: UInt64, without mutant: Mutant? = nil) {
      random = Mutex(SeededRandom(seed: seed))
      self.mutant = mutant
    }
    func next() -> UInt64 { random.withLock { $0.next() } }
  }

  init(_ address: DeviceAddress, _ keys: KeyMaker) {
    let id = ID128(high: address.family.rawValue, low: UInt64(address.device.rawValue)).bytes
    signingKey = id + [UInt8](repeating: 1, count: 16)
    agreementKey = id + [UInt8](repeating: 2, count: 16)
    self.keys = keys
  }

  func sign(_ bytes: [UInt8]) -> [UInt8] { Self.mix(64, [signingKey, bytes]) }

  func verify(_ publicKey: [UInt8], _ signature: [UInt8], _ bytes: [UInt8]) -> Bool {
    keys.mutant == .signatures || Self.verify(publicKey, signature, bytes)
  }

  @Sendable static func verify(_ key: [UInt8], _ signature: [UInt8], _ bytes: [UInt8]) -> Bool {
    !LowOrder.isSigningKey(key) && signature == mix(64, [key, bytes])
  }

  @Sendable static func digest(_ bytes: [UInt8]) -> [UInt8] { mix(32, [[], bytes]) }

  func makeKey() -> [UInt8] { Self.stretch(keys.next(), 32) }

  func wrap(_ key: [UInt8], for reader: [UInt8], binding: [UInt8]) -> [UInt8]? {
    LowOrder.isAgreementKey(reader) ? nil : reader + Self.mix(8, [reader, key, binding]) + key
  }

  func unwrap(_ wrapped: [UInt8], binding: [UInt8]) -> [UInt8]? {
    let key = Array(wrapped.dropFirst(40))
    guard wrapped.count == 72, wrapped.prefix(32).elementsEqual(agreementKey),
      wrapped[32..<40].elementsEqual(Self.mix(8, [agreementKey, key, binding]))
    else { return nil }
    return key
  }

  func seal(_ content: Content, _ name: ContentKeyID, _ key: [UInt8], binding: [UInt8]) -> Content {
    let plain = content.bytes
    let box = Self.mix(8, [key, binding, plain]) + plain
    return .sealed(SealedContent(key: name, box: box).bytes)
  }

  func keyName(of content: Content) -> ContentKeyID? {
    guard case .sealed(let bytes) = content else { return nil }
    return SealedContent(bytes)?.key
  }

  func open(_ content: Content, _ key: [UInt8], binding: [UInt8]) -> Content? {
    guard case .sealed(let bytes) = content, let sealed = SealedContent(bytes) else { return nil }
    let plain = Array(sealed.box.dropFirst(8))
    let isSealed = sealed.box.prefix(8).elementsEqual(Self.mix(8, [key, binding, plain]))
    guard isSealed || keys.mutant == .seals else { return nil }
    let content = Content.sealed(plain)
    return content.openedIfKnown ?? (keys.mutant == .contents ? content : nil)
  }

  func digest(_ bytes: [UInt8], under key: [UInt8]) -> [UInt8] { Self.mix(32, [key, bytes]) }

  func bytes(of content: Content) -> [UInt8] { content.bytes }

  /// Opens the contents of an event without a key, for the checkers after a run.
  static func reveal(_ event: Event) -> Event {
    var event = event
    switch event.body {
    case .asked(let header, let content): event.body = .asked(header, reveal(content))
    case .answeredInPerson(let header, let content, let decision, let proof):
      event.body = .answeredInPerson(header, reveal(content), decision, proof: proof)
    case .contactChanged(let child, let content):
      event.body = .contactChanged(child: child, reveal(content))
    case .withdrawn(let child, let content): event.body = .withdrawn(child: child, reveal(content))
    case .accountChanged(let person, let content):
      event.body = .accountChanged(person, reveal(content))
    case .ageSet(let person, let content, let proof):
      event.body = .ageSet(person, reveal(content), proof: proof)
    case .settingsChanged(let child, let content, let proof):
      event.body = .settingsChanged(child, reveal(content), proof: proof)
    default: break
    }
    return event
  }

  /// Opens a content without a key.
  static func reveal(_ content: Content) -> Content {
    guard case .sealed(let bytes) = content, let sealed = SealedContent(bytes) else {
      return content
    }
    let opened = Content.sealed(Array(sealed.box.dropFirst(8))).openedIfKnown
    // Checkers judge an event with a content of a later version as one without a content.
    if case .sealed? = opened { return .erased([]) }
    return opened ?? content
  }

  private static func mix(_ count: Int, _ parts: [[UInt8]]) -> [UInt8] {
    var sum = Checksum()
    for part in parts { sum.add(part) }
    return stretch(UInt64(sum.value), count)
  }

  private static func stretch(_ seed: UInt64, _ count: Int) -> [UInt8] {
    var source = IDSource(seed: seed)
    return (0..<count / 8).flatMap { _ in
      withUnsafeBytes(of: source.next().bigEndian) { Array($0) }
    }
  }
}

/// Screen Time passcodes whose "key" is the typed text.
enum FakePasscode {
  static func make(_ typed: String, _ evaluation: PasscodeEvaluation) -> Passcode {
    Passcode(
      salt: Array(repeating: 0, count: 16), logCost: 4, publicKey: key(typed),
      relayKey: evaluation.relayKey)
  }

  static func sign(_ typed: String, _ passcode: Passcode, _ message: [UInt8]) -> [UInt8]? {
    guard key(typed) == passcode.publicKey else { return nil }
    return FakeVault.signature(passcode.publicKey, message)
  }

  private static func key(_ typed: String) -> [UInt8] {
    Array((Array(typed.utf8) + Array(repeating: 0, count: 32)).prefix(32))
  }
}

extension FakeVault {
  static func signature(_ key: [UInt8], _ message: [UInt8]) -> [UInt8] { mix(64, [key, message]) }
}
