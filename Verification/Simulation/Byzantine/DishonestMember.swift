import FamilyCore
import FamilyModel
import RelayStore
import RelayWire

/// The dishonest member of a run: one device, the devices that it planted, and all that it has read.
final class DishonestMember {
  /// A device whose keys the member has.
  struct Identity {
    var address: DeviceAddress
    var vault: FakeVault
    /// The CURVE key.
    var key: [UInt8]

    init(_ address: DeviceAddress, key: [UInt8], _ vault: FakeVault) {
      self.address = address
      self.key = key
      self.vault = vault
    }
  }

  /// The first request number of the member. Replies to smaller numbers are for its honest machine.
  static let firstRequest: UInt64 = 1 << 40

  let index: Int
  let own: Identity
  var planted: [Identity] = []
  /// The source of the present act.
  var random = SeededRandom(seed: 0)
  private var lastRequest = DishonestMember.firstRequest
  private(set) var lastPlanted: UInt32 = 1 << 20
  /// The ids under which the member has sent commands.
  var usedIDs: Set<CommandID> = []
  /// The relay's pass for the member's device.
  var pass: [UInt8] = []
  /// The member's commands, to be sent again.
  var sent: [(Envelope, Identity)] = []
  /// The secrets of the invitations that the member made: signing keys of devices to come.
  var invited: [Identity] = []
  /// The guesses of the passcode that the relay evaluated, with the times of its clock.
  var guesses: [(at: Instant, request: UInt64)] = []
  /// The last device of the family that the relay refused because of its rate.
  var lastShed: (at: Milliseconds, device: Int)?
  /// The device in whose name the member sent each request.
  private(set) var addresses: [UInt64: DeviceAddress] = [:]
  private var guessRequests: Set<UInt64> = []

  /// The family's complete log, decoded.
  private(set) var log: [Event] = []
  /// The events that the member could read while it was in the family.
  private(set) var events: [Event] = []
  /// The content keys that the member knows.
  private(set) var secrets: [ContentKeyID: (audience: Audience, secret: [UInt8])] = [:]
  private var openedKeys = 0

  init(_ index: Int, _ device: SimulatedDevice) {
    self.index = index
    own = Identity(device.address, key: device.key, device.vault)
  }

  var identities: [Identity] { [own] + planted }
  var family: FamilyID { own.address.family }

  /// The latest roster that the member has read.
  var roster: Roster { roster(events.count) }

  /// The roster after the first `count` read events.
  func roster(_ count: Int) -> Roster {
    for event in events.prefix(count).reversed() {
      if case .rosterChanged(let roster) = event.body { return roster }
    }
    return Roster()
  }

  func person(of identity: Identity) -> Person? { roster.owner(of: identity.address.device) }

  func isGuess(_ request: UInt64) -> Bool { guessRequests.contains(request) }

  /// An envelope with a number of its own.
  func envelope(_ request: Request, _ address: DeviceAddress) -> Envelope {
    lastRequest += 1
    addresses[lastRequest] = address
    if case .evaluate(_, isNew: false) = request { guessRequests.insert(lastRequest) }
    return Envelope(device: address, requestID: lastRequest, request: request)
  }

  /// A new device with keys of its own, in no roster yet.
  func makePlant(_ keys: FakeVault.KeyMaker) -> Identity {
    lastPlanted += 1
    let address = DeviceAddress(family: family, device: DeviceID(lastPlanted))
    let key =
      ID128(high: family.rawValue, low: UInt64(lastPlanted)).bytes + Array(repeating: 9, count: 16)
    return Identity(address, key: key, FakeVault(address, keys))
  }

  // MARK: reading

  /// Reads what the relay has stored since, as far as the family's rosters permit.
  func read(_ stored: [StoredEvent]) {
    let isChanged = log.count > stored.count
    if isChanged || log.last.map({ $0.command != stored[log.count - 1].command }) ?? false {
      log = []
    }
    log += stored[log.count...].map { try! Event.decode($0.payload) }
    guard case .rosterChanged(let roster)? = log.last(where: { $0.body.isRoster })?.body else {
      return
    }
    let present = identities.filter {
      roster.device($0.address.device)?.publicKey == $0.key
    }
    guard !present.isEmpty else { return learnKeys() }
    let audiences = Set(
      present.flatMap { identity in
        roster.owner(of: identity.address.device).map { roster.audiences(of: $0) } ?? []
      })
    let removed = events.filter { !audiences.contains($0.audience) }
    events = (removed + log.filter { audiences.contains($0.audience) }).sorted { $0.seq < $1.seq }
    learnKeys()
  }

  private func learnKeys() {
    for event in events {
      guard case .keysShared(let wraps) = event.body else { continue }
      for wrap in wraps where secrets[wrap.key] == nil {
        for identity in identities where identity.vault.agreementKey == wrap.reader {
          let binding = Self.keyBinding(family, event.audience, wrap.key)
          if let secret = identity.vault.unwrap(wrap.bytes, binding: binding) {
            secrets[wrap.key] = (event.audience, secret)
          }
        }
      }
    }
  }

  /// Whether an honest device made the key, and the member received it only after this event, as a
  /// newcomer of the audience.
  func learnedLater(_ name: ContentKeyID, than seq: UInt64) -> Bool {
    let own = Set(identities.map(\.vault.signingKey))
    var roster = Roster()
    var isHonest: Bool?
    for event in log {
      if case .rosterChanged(let next) = event.body { roster = next }
      guard case .keysShared(let wraps) = event.body, wraps.contains(where: { $0.key == name })
      else { continue }
      let signer = event.signature.flatMap { roster.device($0.signer) }
      isHonest = isHonest ?? signer.map { !own.contains($0.signingKey) } ?? false
      let isTold = wraps.contains { wrap in
        wrap.key == name && identities.contains { $0.vault.agreementKey == wrap.reader }
      }
      if isTold { return isHonest == true && event.seq > seq }
    }
    return false
  }

  func know(_ secret: [UInt8], _ name: ContentKeyID, _ audience: Audience) {
    secrets[name] = (audience, secret)
  }

  /// The newest position of the audience that the member has read.
  func head(_ audience: Audience) -> ChainPosition {
    events.last { $0.audience == audience }.map { ChainPosition(seq: $0.seq, hash: $0.hash) }
      ?? ChainPosition()
  }

  /// The questions that the member has read, with their headers.
  var questions: [QuestionHeader] { events.compactMap(\.body.newQuestion) }

  // MARK: the formats of docs/Protocol.md, written again

  static func keyBinding(_ family: FamilyID, _ audience: Audience, _ name: ContentKeyID) -> [UInt8]
  {
    var bytes = BoundBytes("permission-relay key 1")
    bytes.add(family.rawValue)
    bytes.add(audience.rawValue)
    bytes.add(name)
    return bytes.bytes
  }

  static func contentBinding(_ family: FamilyID, _ audience: Audience, _ command: CommandID)
    -> [UInt8]
  {
    var bytes = BoundBytes("permission-relay content 1")
    bytes.add(family.rawValue)
    bytes.add(audience.rawValue)
    bytes.add(command)
    return bytes.bytes
  }

  func name(of secret: [UInt8]) -> ContentKeyID {
    let digest = own.vault.digest(
      BoundBytes("permission-relay key name 1").bytes, under: secret)
    return ContentKeyID(bytes: digest.prefix(16))!
  }

  func contentKey(_ secret: [UInt8], _ binding: [UInt8]) -> [UInt8] {
    own.vault.digest(
      BoundBytes("permission-relay one content 1").bytes + binding, under: secret)
  }
}

extension Event.Body {
  var isRoster: Bool { if case .rosterChanged = self { true } else { false } }
}
