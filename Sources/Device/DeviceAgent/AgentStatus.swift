import Credentials
import FamilyCore
import FamilyModel
import Foundation
import SystemClock

/// What a device knows, as the file `status.json` beside its store shows it (mode 0600).
public struct AgentStatus: Codable, Sendable {
  /// One hosted device.
  public struct Device: Codable, Sendable {
    /// The family's number.
    public var family: UInt64
    /// The device's number.
    public var device: UInt32
    /// Whose it is.
    public var name: String
    /// `child`, `guardian`, …
    public var role: String
    /// `connected`, `connecting`, `no relay`, `wrong key` or `no family`.
    public var relay: String
    /// The sum of the positions in all audiences.
    public var position: UInt64
    /// Commands that the relay has not acknowledged.
    public var outbox: Int
    /// Entries that the device's apps have not acknowledged.
    public var unacknowledged: Int
    /// The questions, in order.
    public var questions: [Question]
    /// Events since the start that were not believed; anything above zero is a relay that is not honest.
    public var disbelieved: Int
    /// The handles known in each app.
    public var known: [String: [String]]
  }
  /// A question as the device sees it.
  public struct Question: Codable, Sendable {
    /// The question's UUID.
    public var id: String
    /// `open`, `cancelled`, or the id of the choice.
    public var state: String
    /// The name of who answered.
    public var by: String?
    /// `sent`, `delivered`, `read` or `answered` (M4).
    public var delivery: String
  }
  /// The hosted devices, by address.
  public var devices: [Device]
}

extension AgentHost {
  /// Milliseconds between two writings of the status.
  static let statusInterval: Int64 = 100
  /// A host of many devices does not write their status: it would be large, and nobody reads it.
  static let statusDevices = 64
  /// The newest questions of a conversation that the status holds: it is written often, and stays small.
  static let statusQuestions = 64

  func writeStatus(_ now: Instant) {
    guard statusIsStale, devices.count <= Self.statusDevices,
      statusWritten + Self.statusInterval <= now
    else {
      if devices.count > Self.statusDevices { statusIsStale = false }
      return
    }
    statusIsStale = false
    statusWritten = now
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .prettyPrinted]
    let file = configuration.directory.appendingPathComponent("status.json")
    if let data = try? encoder.encode(status) { try? PrivateFile.write(data, to: file) }
  }

  /// What the hosted devices know.
  public var status: AgentStatus {
    AgentStatus(
      devices: devices.keys.sorted().map { address in
        let device = devices[address]!
        let link = device.link
        let questions = link.conversations.keys.sorted().flatMap { child in
          let conversation = link.conversations[child]!
          return conversation.inOrder.suffix(Self.statusQuestions).map { state in
            question(state, conversation.delivery(of: state.header.id), link)
          }
        }
        var known: [String: [String]] = [:]
        for app in device.child == nil ? [] : configuration.apps.keys.sorted() {
          known[app.rawValue] = device.child!.knownHandles(in: app).map(\.value)
        }
        return AgentStatus.Device(
          family: address.family.rawValue, device: address.device.rawValue,
          name: device.name, role: "\(device.role)",
          relay: device.connectionName,
          position: link.position.reduce(0) { $0 + $1.delivered }, outbox: link.waiting.count,
          unacknowledged: device.child?.unacknowledged ?? 0, questions: questions,
          disbelieved: device.disbelieved, known: known)
      })
  }

  private func question(_ state: QuestionState, _ delivery: DeliveryState?, _ link: DeviceLink)
    -> AgentStatus.Question
  {
    var answered: (state: String, by: String?) = ("open", nil)
    switch state.phase {
    case .open: break
    case .cancelled: answered.state = "cancelled"
    case .answered(let choice, let device, _):
      answered = (choice.id, link.roster.person(link.owner(of: device))?.displayName)
    }
    return AgentStatus.Question(
      id: state.header.id.uuid.uuidString, state: answered.state, by: answered.by,
      delivery: delivery.map { "\($0)" } ?? "sending")
  }
}
