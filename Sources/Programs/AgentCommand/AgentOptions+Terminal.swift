import ArgumentParser
import DeviceAgent
import Foundation
import SQLiteStore
import ServiceLifecycle
import TerminalUI
import Wording

extension AgentOptions {
  /// Runs one device in this terminal until its owner quits, and logs to `agent.log`.
  ///
  /// - Throws: `ValidationError` when more than one credential matches.
  func runTerminal(_ configuration: AgentHost.Configuration, _ store: String, label: String)
    async throws
  {
    guard let credential = configuration.credentials.first, configuration.credentials.count == 1
    else {
      let files = configuration.credentials.map {
        "\($0.name) (family \($0.address.family.rawValue))"
      }
      throw ValidationError(
        "A terminal runs one device, but \(files.count) credentials match: "
          + "\(files.joined(separator: ", ")). Give one credential file.")
    }
    let environment = ProcessInfo.processInfo.environment
    let preferred = [language, environment["LC_ALL"], environment["LANG"]]
    let wording = Wording(
      Language.best(for: preferred.compactMap { $0 }.filter { !$0.isEmpty }.prefix(1).map { $0 }))
    var configuration = configuration
    if desktopNotifications ?? (isatty(STDIN_FILENO) == 1) {
      configuration.desktop = DesktopNotifications { wording.desktop($0, isGuardian: $1) }
    }
    let log = configuration.directory.appendingPathComponent("agent.log").path
    let errors = try StandardError(to: log)
    defer { errors.restore() }
    let responder = TerminalResponder()
    let host = try AgentHost(
      configuration, store: SQLiteAgentStore(path: store), responder: responder,
      trace: Trace { _ in }, logger: logging.logger(label: label))
    let session = TerminalSession(
      host, of: credential.address, responder, console: Console(), wording: wording,
      checker: configuration.checker)
    try await serve(
      [
        .init(service: host),
        .init(service: session, successTerminationBehavior: .gracefullyShutdownGroup),
      ], label)
  }
}

/// Redirects standard error to a file while the terminal session owns the screen.
private struct StandardError {
  private let before: Int32

  init(to path: String) throws {
    let file = open(path, O_WRONLY | O_CREAT | O_APPEND, 0o600)
    guard file >= 0 else { throw ValidationError("Cannot write the log '\(path)'.") }
    before = dup(STDERR_FILENO)
    dup2(file, STDERR_FILENO)
    close(file)
  }

  func restore() {
    dup2(before, STDERR_FILENO)
    close(before)
  }
}
