import FamilyModel

/// The kinds of requests. The compiler asks for a case, and for values, when a kind is added.
enum RequestKind: CaseIterable {
  case command, attach, fetch, acknowledge, ping, present, join, evaluate

  init(_ request: Request) {
    self =
      switch request {
      case .command: .command
      case .attach: .attach
      case .fetch: .fetch
      case .acknowledge: .acknowledge
      case .ping: .ping
      case .present: .present
      case .join: .join
      case .evaluate: .evaluate
      }
  }

  /// A request of this kind. Its values may be invalid.
  ///
  /// - Parameter command: Makes the command of such a request.
  func make(
    _ input: inout Bytes, _ family: FamilyID, command: (inout Bytes) -> Request
  ) -> Request {
    switch self {
    case .command: command(&input)
    case .attach: .attach(input.cursors())
    case .fetch: .fetch(input.audience(), after: input.edge())
    case .acknowledge: .acknowledge(input.cursors())
    case .ping: .ping
    case .present:
      .present(
        input.array(Limits.presentDevices) { input in
          DeviceAddress(
            family: input.isRare(4) ? FamilyID(input.edge()) : family, device: input.device())
        })
    case .join: .join(input.joinRequest())
    case .evaluate:
      .evaluate(
        Array(repeating: input.byte(), count: input.isRare(8) ? input.pick(64) : 32),
        isNew: input.byte() & 1 == 1)
    }
  }
}

extension Bytes {
  mutating func cursors() -> [Cursor] {
    array(1 + 2 * Limits.persons) { input in
      Cursor(input.audience(), delivered: input.edge(), read: input.edge())
    }
  }

  mutating func joinRequest() -> JoinRequest {
    JoinRequest(
      invitation: key(), publicKey: key(), signingKey: key(), agreementKey: key(), proof: proof())
  }
}
