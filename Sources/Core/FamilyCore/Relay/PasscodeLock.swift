public import FamilyModel

/// The relay's part of a family's passcode: the secret of its evaluations, and the number of
/// guesses on all devices of the family together.
///
/// - (a guardian prepares a passcode) a new secret is *prepared*.
/// - *Prepared* → (the passcode with its public key is set) *current*. The guesses start from zero,
///   and the former secret is gone.
/// - *Current* → (guess) counted; → (delay) `passcodeLocked`; → (accepted proof) zero guesses.
///
/// A guardian who sets a passcode is not limited: an evaluation under a new secret reveals nothing
/// about the current passcode. The relay makes each change durable before it replies, so a crash
/// returns no guess.
public struct PasscodeLock: Hashable, Sendable {
  struct Key: Hashable, Sendable {
    var secret: [UInt8]
    var publicKey: [UInt8]
  }

  private var current: Key?
  private var prepared: Key?
  /// The guesses since the last accepted proof.
  private(set) var guesses: UInt32 = 0
  private var lastGuess = Instant(milliseconds: 0)
  /// The element of the last guess. A repetition of the same request counts once.
  private var lastElement: [UInt8] = []

  init() {}

  /// The lock as if nobody had guessed.
  package var withoutGuesses: PasscodeLock {
    var copy = self
    copy.guesses = 0
    return copy
  }

  /// Makes a secret for the next passcode.
  ///
  /// - Returns: The secret.
  mutating func prepare(_ evaluator: PasscodeEvaluator) -> [UInt8] {
    let secret = evaluator.makeSecret()
    prepared = Key(secret: secret, publicKey: evaluator.publicKey(secret))
    return secret
  }

  /// Counts a guess.
  ///
  /// - Returns: The secret that evaluates the element.
  /// - Throws: `passcodeOutdated` if this is not the passcode's lock, or `passcodeLocked`.
  mutating func guess(_ element: [UInt8], of passcode: Passcode, now: Instant) throws(Problem)
    -> [UInt8]
  {
    guard let current, current.publicKey == passcode.relayKey else { throw .passcodeOutdated }
    if element == lastElement { return current.secret }
    let wait = remainingWait(now: now)
    guard wait == .zero else { throw .passcodeLocked(retryAfter: wait) }
    guesses += 1
    lastGuess = now
    lastElement = element
    return current.secret
  }

  /// The time until the next guess. A clock that was set back extends no delay.
  private func remainingWait(now: Instant) -> Milliseconds {
    guard guesses >= Limits.passcodeGuesses else { return .zero }
    let index = min(Int(guesses) - Limits.passcodeGuesses, Limits.passcodeDelays.count - 1)
    let delay = Limits.passcodeDelays[index]
    return max(.zero, min(delay, lastGuess + delay - now))
  }

  /// Checks that the passcode was made with the prepared secret.
  ///
  /// - Throws: `passcodeOutdated`: another guardian prepared a passcode since, or none did.
  func check(_ passcode: Passcode) throws(Problem) {
    guard let prepared, prepared.publicKey == passcode.relayKey else { throw .passcodeOutdated }
  }

  /// The prepared secret becomes the current one. Precondition: the passcode was checked.
  mutating func adopt() {
    self = PasscodeLock(current: prepared)
  }

  private init(current: Key?) { self.current = current }

  /// Resets the count after a valid proof.
  mutating func reset() {
    guesses = 0
    lastElement = []
  }
}

/// The cryptography of evaluations, which the relay's shell supplies.
public struct PasscodeEvaluator: Sendable {
  let makeSecret: @Sendable () -> [UInt8]
  let publicKey: @Sendable (_ secret: [UInt8]) -> [UInt8]
  let evaluate: @Sendable (_ secret: [UInt8], _ element: [UInt8]) -> PasscodeEvaluation?

  /// Creates an evaluator.
  ///
  /// - Parameters:
  ///   - makeSecret: Generates a random secret.
  ///   - publicKey: The public key of a secret.
  ///   - evaluate: Evaluates an element; `nil` for an invalid element.
  public init(
    makeSecret: @escaping @Sendable () -> [UInt8],
    publicKey: @escaping @Sendable (_ secret: [UInt8]) -> [UInt8],
    evaluate: @escaping @Sendable (_ secret: [UInt8], _ element: [UInt8]) -> PasscodeEvaluation?
  ) {
    self.makeSecret = makeSecret
    self.publicKey = publicKey
    self.evaluate = evaluate
  }

  /// An ideal function without cryptography, for machines without keys. Anybody can compute it.
  public static let ideal = PasscodeEvaluator(
    makeSecret: { Array(repeating: 1, count: PasscodeEvaluation.elementBytes) },
    publicKey: { $0.map { ~$0 } },
    evaluate: { secret, element in
      PasscodeEvaluation(
        element: zip(element, secret).map { $0 ^ $1 },
        proof: Array(repeating: 0, count: PasscodeEvaluation.proofBytes),
        relayKey: secret.map { ~$0 })
    })
}

extension PasscodeAttempt {
  /// An attempt for the ideal function: the element shows the typed text.
  @Sendable public static func ideal(_ typed: String) -> PasscodeAttempt {
    let padding = Array(repeating: UInt8(0), count: PasscodeEvaluation.elementBytes)
    let element = Array((Array(typed.utf8) + padding).prefix(PasscodeEvaluation.elementBytes))
    return PasscodeAttempt(typed: typed, blind: [], element: element)
  }
}

// MARK: Bytes

extension PasscodeLock: Packable {
  func pack(_ packer: inout Packer) {
    packer.add(current)
    packer.add(prepared)
    packer.add(guesses)
    packer.add(lastGuess)
    packer.add(lastElement)
  }

  init(_ packed: inout Unpacker) {
    current = packed.value()
    prepared = packed.value()
    guesses = packed.value()
    lastGuess = packed.value()
    lastElement = packed.array()
  }

  /// The version of the stored bytes.
  private static let formatVersion: UInt8 = 1

  /// The bytes that the relay's store keeps.
  package var stored: [UInt8] { [Self.formatVersion] + Packer.pack(self) }

  /// Reads the bytes of an ``RelayMachine/Effect/passcodeLock(_:_:)``; `nil` for other bytes.
  public init?(stored bytes: [UInt8]) {
    guard bytes.first == Self.formatVersion,
      let lock = Unpacker.unpack(Array(bytes.dropFirst()), as: PasscodeLock.self)
    else { return nil }
    self = lock
  }
}

extension PasscodeLock.Key: Packable {
  func pack(_ packer: inout Packer) {
    packer.add(secret)
    packer.add(publicKey)
  }

  init(_ packed: inout Unpacker) {
    secret = packed.array()
    publicKey = packed.array()
  }
}

extension PasscodeLock: CustomStringConvertible, CustomDebugStringConvertible {
  /// A text without the secret, because logs and crash reports may contain it.
  public var description: String { "PasscodeLock" }
  /// As ``description``.
  public var debugDescription: String { description }
}
