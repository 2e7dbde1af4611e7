import FamilyModel
import Foundation
import RelayRuntime
import RelayWire
import ZeroMQ

/// Many families' devices on three connections to a relay: one for the children, one for the guardians, and
/// the administrator's. Requests are encoded and answers decoded as agents do.
///
/// It speaks the protocol and has no machines: what is measured is the relay.
final class RelayClients {
  static let childDevice = DeviceID(2)
  static let guardianDevice = DeviceID(1)
  private static let timeout = 30_000

  private let context: Context
  private let administrator: Socket
  private let children: Socket
  private let guardians: Socket
  private let families: Int
  private let childKeys: CurveKeyPair
  private let guardianKeys: CurveKeyPair
  private var message = Multipart(maximumParts: 4)
  private var nextID: UInt64 = 0
  private var nextFamily = 0
  /// Whether commands have signatures and questions are sealed, as a real device's: the relay gets, stores
  /// and sends that much more. It verifies none of them, so the bytes need not be real.
  var isSigned = true

  init(relay folder: URL, families: Int) throws {
    let credential = try AdministratorCredential.read(
      from: AdministratorCredential.file(in: folder))
    let context = try Context()
    let (childKeys, guardianKeys) = (try CurveKeyPair.generate(), try CurveKeyPair.generate())
    func connect(_ keys: CurveKeyPair) throws -> Socket {
      var options = SocketOptions()
      options.security = .client(keys, server: credential.relayKey)
      options.sendHighWaterMark = 100_000
      options.receiveHighWaterMark = 100_000
      let socket = try Socket(.dealer, in: context, options: options)
      try socket.connect(credential.requests)
      return socket
    }
    administrator = try connect(credential.keys)
    children = try connect(childKeys)
    guardians = try connect(guardianKeys)
    self.context = context
    self.childKeys = childKeys
    self.guardianKeys = guardianKeys
    self.families = families
    try found()
  }

  /// Makes the families, many at a time.
  private func found() throws {
    let roster = Roster(
      persons: [
        Person(id: PersonID(1), role: .organizer, displayName: "Rosa"),
        Person(id: PersonID(2), role: .child, displayName: "Emily"),
      ],
      devices: [
        Device(
          id: Self.guardianDevice, person: PersonID(1), publicKey: guardianKeys.publicKey.bytes),
        Device(id: Self.childDevice, person: PersonID(2), publicKey: childKeys.publicKey.bytes),
      ])
    var sent = 0
    var done = 0
    while done < families {
      while sent < families, sent - done < 1_000 {
        sent += 1
        try send(.setRoster(roster), of: DeviceID(0), in: sent, on: administrator)
      }
      done += try drain(administrator) { _ in }
    }
    for family in 1...families {
      try request(
        .acknowledge([Cursor(.family, delivered: 1)]), of: Self.childDevice, in: family,
        on: children)
    }
  }

  /// Seconds for so many approvals, with `window` of them on the way at any time; and of each of them.
  ///
  /// An approval is an ask that was committed, an answer that was committed, and the child's device saying
  /// that it has both.
  func approvals(_ count: Int, window: Int) throws -> (total: Double, each: [Double]) {
    var each: [Double] = []
    each.reserveCapacity(count)
    var begun: [UInt64: UInt64] = [:]
    let start = Monotonic.now()
    var started = 0
    func ask() throws {
      started += 1
      nextFamily = nextFamily % families + 1
      nextID += 1
      begun[UInt64(nextFamily)] = Monotonic.now()
      try send(
        .ask(header(nextID), isSigned ? sealed : content), of: Self.childDevice, in: nextFamily,
        on: children)
    }
    for _ in 0..<min(window, count) { try ask() }
    while each.count < count {
      _ = try drain(children, guardians) { reply in
        guard case .accepted(_, let seq) = reply.reply else { throw Refused(reply: reply.reply) }
        let family = reply.device.family
        if reply.device.device == Self.childDevice {
          let question = ID128(high: 77, low: questions.removeValue(forKey: family.rawValue)!)
          try send(
            .answer(question, choice: "approve"), of: Self.guardianDevice, in: Int(family.rawValue),
            on: guardians)
        } else {
          try request(
            .acknowledge([Cursor(.conversation(PersonID(2)), delivered: seq)]),
            of: Self.childDevice, in: Int(family.rawValue), on: children)
          each.append(
            Double(Monotonic.now() - begun.removeValue(forKey: family.rawValue)!) / 1e9)
          if started < count { try ask() }
        }
      }
    }
    return (Double(Monotonic.now() - start) / 1e9, each)
  }

  /// The question on the way in each family.
  private var questions: [UInt64: UInt64] = [:]
  /// Some 300 bytes, as a question with a name and two choices has.
  private let content = Content.sealed(Array(repeating: 7, count: 230))

  /// The same with the name of a key, nonce and tag.
  private let sealed = Content.sealed(
    SealedContent(
      key: ID128(high: 7, low: 7), box: Array(repeating: 7, count: 12 + 230 + 16)
    ).bytes)

  private static func signature(_ device: DeviceID) -> Signature {
    Signature(signer: device, seen: 1, bytes: Array(repeating: 7, count: 64))
  }

  private func header(_ id: UInt64) -> QuestionHeader {
    questions[UInt64(nextFamily)] = id
    return QuestionHeader(
      id: ID128(high: 77, low: id), child: PersonID(2), app: AppID("example.landmarks"),
      subjects: withUnsafeBytes(of: id) {
        Array($0) + Array(repeating: 0, count: isSigned ? 24 : 0)
      },
      choices: [
        ChoiceHeader(id: "approve", answer: .approval),
        ChoiceHeader(id: "decline", answer: .denial),
      ], expiration: nil)
  }

  private func send(
    _ command: Command, of device: DeviceID, in family: Int, on socket: borrowing Socket
  ) throws {
    nextID += 1
    try request(
      .command(
        ID128(high: UInt64.random(in: 0 ... .max), low: nextID), command,
        isSigned && device.rawValue != 0 ? Self.signature(device) : nil), of: device,
      in: family, on: socket)
  }

  private func request(
    _ request: Request, of device: DeviceID, in family: Int, on socket: borrowing Socket
  ) throws {
    nextID += 1
    let envelope = Envelope(
      device: DeviceAddress(family: FamilyID(UInt64(family)), device: device), requestID: nextID,
      request: request)
    guard try socket.send([[], envelope.encode()]) == .sent else { throw RelayGone() }
  }

  private func drain(
    _ socket: borrowing Socket, _ body: (ReplyEnvelope) throws -> Void
  ) throws -> Int {
    guard try socket.waitUntilReadable(milliseconds: Self.timeout) else { throw RelayGone() }
    return try take(socket, body)
  }

  private func drain(
    _ first: borrowing Socket, _ second: borrowing Socket,
    _ body: (ReplyEnvelope) throws -> Void
  ) throws -> Int {
    var poller = Poller()
    poller.watch(first)
    poller.watch(second)
    guard try poller.wait(milliseconds: Self.timeout) > 0 else { throw RelayGone() }
    return try take(first, body) + take(second, body)
  }

  private func take(_ socket: borrowing Socket, _ body: (ReplyEnvelope) throws -> Void) throws
    -> Int
  {
    var count = 0
    while try socket.receive(into: &message) == .message {
      let reply = try message.withBytes(1) { bytes throws(Problem) in
        try ReplyEnvelope.decode(bytes)
      }
      try body(reply)
      count += 1
    }
    return count
  }
}

/// The relay does not answer.
struct RelayGone: Error {}
/// The relay refused.
struct Refused: Error { let reply: Reply }
