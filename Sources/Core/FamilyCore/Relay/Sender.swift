public import FamilyModel

extension RelayMachine {
  /// The sender of a request, and the number that the reply carries.
  public struct Sender {
    var address: DeviceAddress
    var key: [UInt8]
    var isAdministrator: Bool
    var id: RequestID

    /// Creates the sender of request `id`.
    ///
    /// - Parameter key: The CURVE public key that the connection has proved.
    public init(address: DeviceAddress, key: [UInt8], isAdministrator: Bool, id: RequestID) {
      self.address = address
      self.key = key
      self.isAdministrator = isAdministrator
      self.id = id
    }

    func reply(_ reply: Reply) -> Effect { .reply(address, id: id, reply) }

    func refusal(of request: Request, _ problem: Problem) -> Effect {
      if case .command(let command, _, _) = request {
        reply(.refused(command, problem))
      } else {
        reply(.failed(problem))
      }
    }
  }
}
