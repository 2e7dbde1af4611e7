import Credentials
import DeviceTurn
import FamilyCore
import FamilyModel
public import Foundation
import SystemClock
import ZeroMQ

/// The state of the hosted devices, as in the file `status.json` beside the store (mode 0600).
public struct AgentStatus: Codable, Sendable {
  /// One hosted device.
  public struct Device: Codable, Sendable {
    /// The family's number.
    public var family: UInt64
    /// The device's number.
    public var device: UInt32
    /// The name of the owner.
    public var name: String
    /// The owner's role: `child`, `guardian`, …
    public var role: String
    /// The connection to the relay: `connected`, `connecting`, `no relay`, `wrong key`, or `no
    /// family` for a person without a family and for a removed device.
    public var relay: String
    /// The sum of the cursors of all audiences.
    public var position: UInt64
    /// Commands that the relay has not acknowledged, without lost statements.
    public var outbox: Int
    /// Entries that the device's apps have not acknowledged.
    public var unacknowledged: Int
    /// The newest questions of each conversation, in order.
    public var questions: [Question]
    /// Events since the start that the device or an app rejected. Above zero the relay is not
    /// honest.
    public var disbelieved: Int
    /// Messages that the device cannot open yet, because it lacks their keys; absent in a status of
    /// an older agent.
    public var unopened: Int?
    /// Lost statements that the relay has accepted again since the start; absent in a status of an
    /// older agent.
    public var givenBack: Int?
    /// Events that are newer than the agent, which shows none of them; absent in a status of an older
    /// agent.
    public var newer: Int?
    /// The known handles of each app.
    public var known: [String: [String]]
    /// The way of the responses to each app; absent in a status of an older agent.
    public var apps: [App]?
  }
  /// The way of an app's responses from the device to the app.
  public struct App: Codable, Sendable {
    /// The app's identifier.
    public var app: String
    /// `idle`, `not registered`, `waiting`, `launched` or `attached`: what the entries wait for.
    public var state: String
    /// The questions whose responses the app has not handled.
    public var waiting: [String]
    /// Entries that the app has not acknowledged: responses, changed contacts and withdrawals.
    public var entries: Int
    /// The running process that the device launched.
    public var process: Int32?
    /// Whether the device confines the app's launches; absent in a status of an older agent.
    public var confined: Bool?
    /// How the last launch ended, such as `exited with status 1`.
    public var lastEnd: String?
    /// Launches since the last acknowledgement that ended without another one.
    public var failedLaunches: Int
    /// The time of the next launch.
    public var nextLaunch: Date?
    /// The questions whose responses the app handled most recently.
    public var handled: [String]
  }
  /// The state of a question.
  public struct Question: Codable, Sendable {
    /// The question's UUID.
    public var id: String
    /// The number that every screen of the family shows for the question; absent in a status of an
    /// older agent.
    public var number: UInt64?
    /// `open`, `cancelled`, or the id of the choice.
    public var state: String
    /// The name of the person who answered.
    public var by: String?
    /// `sent`, `delivered`, `read` or `answered`.
    public var delivery: String
  }
  /// The hosted devices, by address.
  public var devices: [Device]
}

extension AgentHost {
  /// The time between two writes of the status.
  static let statusInterval = Nanoseconds.milliseconds(100)
  /// Devices of a host that writes a status. With more devices the file would be large and unread.
  static let statusDevices = 64
  /// Questions of a conversation in the status. Older ones are left out, for small writes.
  static let statusQuestions = 64

  /// Writes a stale status, at most once in each ``statusInterval``.
  ///
  /// - Parameter now: A moment of the clock that is never set back. By the wall clock, a status would
  ///   stay stale for as long as the clock was ahead.
  func writeStatus(_ now: MonotonicInstant) {
    guard host.devices.count <= Self.statusDevices else { return isStatusStale = false }
    guard isStatusStale, statusWritten + Self.statusInterval <= now else { return }
    isStatusStale = false
    statusWritten = now
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .prettyPrinted]
    encoder.dateEncodingStrategy = .iso8601
    let file = configuration.directory.appendingPathComponent("status.json")
    // A sync would delay every device of the host, up to ten times a second.
    guard let data = try? encoder.encode(status) else { return }
    try? PrivateFile.write(data, to: file, isDurable: false)
  }

  /// The current state of the hosted devices.
  public var status: AgentStatus {
    AgentStatus(
      devices: host.devices.keys.sorted().map { address in
        let device = host.devices[address]!
        let (link, credential) = (device.link, credential(of: address))
        let questions = link.conversations.keys.sorted().flatMap { child in
          let conversation = link.conversations[child]!
          return conversation.newest(Self.statusQuestions).map { state in
            question(state, conversation.delivery(of: state.header.id), link)
          }
        }
        var known: [String: [String]] = [:]
        for app in device.child == nil ? [] : configuration.apps.keys.sorted() {
          known[app.rawValue] = device.child!.knownHandles(in: app).map(\.value)
        }
        return AgentStatus.Device(
          family: address.family.rawValue, device: address.device.rawValue,
          name: credential?.name ?? "", role: credential.map { "\($0.role)" } ?? "",
          relay: connectionName(of: device),
          position: link.position.reduce(0) { $0 + $1.delivered },
          outbox: link.pendingCommands.count,
          unacknowledged: device.child?.unacknowledged ?? 0, questions: questions,
          disbelieved: device.rejectedEvents, unopened: link.unopenedCount,
          givenBack: link.givenBack, newer: link.newerCount, known: known,
          apps: apps(of: device, address))
      })
  }

  private func apps(of device: HostedDevice, _ address: DeviceAddress) -> [AgentStatus.App]? {
    device.child?.deliveries.map { delivery in
      let launches = self.launches[address]?[delivery.app] ?? LaunchRecord()
      var next: Date?
      let state: String
      switch delivery.state {
      case .idle: state = "idle"
      case .notRegistered: state = "not registered"
      case .launched: state = "launched"
      case .attached: state = "attached"
      case .waiting(let until):
        state = "waiting"
        next = max(
          Date(timeIntervalSince1970: Double(until.milliseconds) / 1_000), Date())
      }
      return AgentStatus.App(
        app: delivery.app.rawValue, state: state,
        waiting: delivery.responses.map(\.question.uuid.uuidString), entries: delivery.entries,
        process: launches.process, confined: launches.isConfined ?? Launcher.canConfine,
        lastEnd: launches.lastEnd?.description,
        failedLaunches: delivery.failedLaunches, nextLaunch: next,
        handled: launches.handled.map(\.uuid.uuidString))
    }
  }

  /// The connection's state in a word or two, for people.
  private func connectionName(of device: HostedDevice) -> String {
    guard device.isInFamily, !device.link.isShutOut else { return "no family" }
    return switch device.connection {
    case .connecting: "connecting"
    case .connected: "connected"
    case .serverUnreachable: "no relay"
    case .keyRefused: "wrong key"
    }
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
      id: state.header.id.uuid.uuidString, number: state.seq, state: answered.state,
      by: answered.by,
      delivery: delivery.map { "\($0)" } ?? "sending")
  }
}
