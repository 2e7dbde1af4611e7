import DeviceAgent
import DeviceScreen
import Foundation
import SQLiteStore
import ServiceLifecycle
import Wording

extension AgentOptions {
  /// Serves the screens of all devices at a socket until a signal arrives.
  func runScreen(_ configuration: AgentHost.Configuration, _ store: String, label: String)
    async throws
  {
    var configuration = configuration
    if desktopNotifications ?? false {
      let wording = Wording(Language.best(for: [language].compactMap { $0 }))
      configuration.desktop = DesktopNotifications { wording.desktop($0, isGuardian: $1) }
    }
    let trace = Trace.standardOutput
    let logger = logging.logger(label: label)
    let responder = ScreenResponder()
    let host = try AgentHost(
      configuration, store: SQLiteAgentStore(path: store), responder: responder,
      observer: traceAll ? DurableTrace(trace: trace) : nil, trace: trace, logger: logger)
    let server = try ScreenServer(
      host, responder, at: configuration.directory, checker: configuration.checker, logger: logger)
    try await serve([.init(service: host), .init(service: server)], label)
  }
}
