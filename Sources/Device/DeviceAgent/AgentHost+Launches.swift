import FamilyCore
import DeviceConnection
import FamilyModel
import Foundation
import Logging
import SystemClock

/// The launches of one app, for the log and the status.
struct LaunchRecord {
  /// Questions in ``handled``.
  static let handledQuestions = 16

  /// The running process; `nil` between launches.
  var process: Int32?
  /// Whether the last process was confined; `nil` before the first one.
  var isConfined: Bool?
  var lastEnd: Launcher.End?
  /// The questions whose responses wait, by the positions of their entries.
  var waiting: [UInt64: QuestionID] = [:]
  /// The questions whose responses the app handled most recently.
  private(set) var handled: [QuestionID] = []

  mutating func addHandled(_ id: QuestionID) {
    handled.append(id)
    if handled.count > Self.handledQuestions { handled.removeFirst() }
  }
}

/// Reports each step of a response's way to its app.
extension AgentHost {
  /// The app's program with its environment and access; `nil` if no such app is installed.
  func installed(_ app: AppID, on address: DeviceAddress) -> Launcher.Installed? {
    guard let command = configuration.apps[app], let executable = command.first else { return nil }
    let credential = AppSocket.credentialFile(configuration, address, app)
    let folder = credential.deletingPathExtension()
    try? FileManager.default.createDirectory(
      at: AppEnvironment.temporaryFolder(in: folder), withIntermediateDirectories: true,
      attributes: [.posixPermissions: 0o700])
    var environment = AppEnvironment.variables(
      folder: folder, named: configuration.manifests[app]?.environment ?? [],
      of: ProcessInfo.processInfo.environment)
    environment[AppCredential.variable] = AppCredential.inherited
    let program = URL(fileURLWithPath: executable)
    return Launcher.Installed(
      executable: program.path, arguments: Array(command.dropFirst()) + ["background"],
      credential: credential, folder: folder,
      log: configuration.directory.appendingPathComponent("\(launchName(address, app)).log"),
      environment: environment,
      access: AppAccess(
        program: program, folder: folder, programs: [AppSocket.decoder].compactMap(\.self),
        secrets: [configuration.directory] + configuration.secrets))
  }

  /// Warns once that apps are not confined.
  func warnIfUnconfined() {
    guard !Launcher.canConfine else { return }
    trace("unconfined")
    logger.warning(
      """
      apps are not confined, because the kernel has no Landlock. An app can read the keys of this \
      device and of other apps. Use Linux 5.13 or later, or install trusted apps only.
      """)
  }

  func launched(_ app: AppID, _ process: Int32, isConfined: Bool, on address: DeviceAddress) {
    launches[address, default: [:]][app, default: LaunchRecord()].process = process
    launches[address, default: [:]][app]?.isConfined = isConfined
    isStatusStale = true
    trace("launched", device: address, facts: [("process", "\(process)")])
    logger.info("launched an app", metadata: metadata(app, address, ["process": "\(process)"]))
  }

  func launchEnded(_ app: AppID, _ end: Launcher.End, on address: DeviceAddress) {
    launches[address, default: [:]][app, default: LaunchRecord()].process = nil
    launches[address, default: [:]][app]?.lastEnd = end
    isStatusStale = true
    appEnded(app, exited: true, on: address)
    // Another process of the app may have attached while the launched one ran.
    apps?.disconnect(app, on: address)
    trace("launch-ended", device: address, facts: [("end", "\"\(end)\"")])
    guard let delivery = host.devices[address]?.child?.delivery(to: app) else { return }
    let facts = metadata(app, address, ["end": "\(end)"])
    guard delivery.entries > 0 else { return logger.info("an app ended", metadata: facts) }
    var more = facts
    more["unhandled"] = "\(delivery.entries)"
    more["failedLaunches"] = "\(delivery.failedLaunches)"
    if case .waiting(let until) = delivery.state {
      more["nextLaunch"] = "in \(max(0, until.milliseconds - Instant.now.milliseconds)) ms"
    }
    logger.warning("an app ended without handling its entries", metadata: more)
  }

  /// Reports the responses that begin or end to wait, by the durable changes of a device.
  func reportResponses(_ changes: [RecordChange], on address: DeviceAddress) {
    for change in changes {
      switch change {
      case .put(.entry(let app, let entry)):
        guard case .response(let question, _) = entry.body else { continue }
        launches[address, default: [:]][app, default: LaunchRecord()].waiting[entry.position] =
          question.id
        isStatusStale = true
        reportWaiting(question.id, for: app, on: address)
      case .delete(.entry(let app, let position)):
        guard let id = launches[address, default: [:]][app]?.waiting.removeValue(forKey: position)
        else {
          continue
        }
        launches[address, default: [:]][app]?.addHandled(id)
        isStatusStale = true
        trace("handled", device: address, question: id)
        logger.info(
          "the app handled a response", metadata: metadata(app, address, facts(id, on: address)))
      default: continue
      }
    }
  }

  /// Reports the responses that waited at the device's start.
  func reportRestored(on address: DeviceAddress) {
    for delivery in host.devices[address]?.child?.deliveries ?? [] {
      for response in delivery.responses {
        launches[address, default: [:]][delivery.app, default: LaunchRecord()]
          .waiting[response.position] = response.question
        reportWaiting(response.question, for: delivery.app, on: address)
      }
    }
  }

  /// The question's id, and the number that every screen of the family shows for it.
  private func facts(_ id: QuestionID, on address: DeviceAddress) -> Logger.Metadata {
    var facts: Logger.Metadata = ["question": "\(id.uuid)"]
    if let state = host.devices[address]?.child?.conversation?.questions[id] {
      facts["number"] = "#\(state.seq)"
    }
    return facts
  }

  private func reportWaiting(_ id: QuestionID, for app: AppID, on address: DeviceAddress) {
    let facts = metadata(app, address, facts(id, on: address))
    guard host.devices[address]?.child?.delivery(to: app)?.state == .notRegistered else {
      return logger.info("a response waits for its app", metadata: facts)
    }
    logger.warning(
      "a response waits for an app that has never read `updates` and never asked: start it once",
      metadata: facts)
  }

  private func metadata(
    _ app: AppID, _ address: DeviceAddress, _ more: Logger.Metadata
  ) -> Logger.Metadata {
    [
      "app": "\(app.rawValue)", "family": "\(address.family.rawValue)",
      "device": "\(address.device.rawValue)",
    ].merging(more) { $1 }
  }
}
