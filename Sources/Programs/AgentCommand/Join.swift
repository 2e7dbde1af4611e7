public import ArgumentParser
import Credentials
import FamilyModel
import Foundation
public import ProgramOptions
import RelayClient
import SystemClock

extension ExitStatus {
  /// The exit code of an agent's command; `nil` for errors of options and arguments.
  public init?(ofAgent error: any Error) {
    switch error {
    case is RelayUnreachable: self = .noRelay
    case is Problem: self = .refused
    default: return nil
    }
  }
}

/// The agents' `join` command: creates this device's keys and credential with a guardian's code.
public struct Join: AsyncParsableCommand {
  public static let configuration = CommandConfiguration(
    commandName: "join",
    abstract: "Create this device's keys and join a family with a guardian's code.",
    discussion:
      "Type or paste the code when asked, or send it to standard input. The code is not an "
      + "argument, because other users of the machine can read arguments. A join that was "
      + "interrupted resumes: run the command again with the same code, or with an empty line.")

  @Option(help: "The credential file to write (mode 0600). The file must not exist yet.")
  var credential: String
  @Option(help: "Seconds to wait for the guardian's device.") var patience = 900

  public init() {}

  /// Reads the code's text, which may span several lines.
  ///
  /// - Returns: `nil` for an empty line.
  private static func readText() -> String? {
    var text = ""
    while let line = readLine(), !line.isEmpty {
      text += line
      if (try? JoinCode(text: text)) != nil { return text }
    }
    return text.isEmpty ? nil : text
  }

  /// The join of the code that a person enters. An interrupted join with the same code keeps its keys,
  /// and one that the person resumes with an empty line keeps its code, too.
  private static func pending(beside credential: URL) throws -> PendingJoin {
    let file = PendingJoin.file(beside: credential)
    let interrupted = try PendingJoin(from: file)
    if isatty(STDIN_FILENO) == 1 {
      print("Enter the code from the guardian's screen:")
      if interrupted != nil { print("An empty line resumes the interrupted join.") }
    }
    guard let text = readText() else {
      guard let interrupted else { return try PendingJoin(JoinCode(text: "")) }
      return interrupted
    }
    let code = try JoinCode(text: text)
    if let interrupted, interrupted.code.text == code.text { return interrupted }
    let pending = try PendingJoin(code)
    try pending.write(to: file)
    return pending
  }

  public func run() async throws {
    PrivateFile.restrictNewFilesToOwner()
    let file = URL(fileURLWithPath: credential)
    guard !FileManager.default.fileExists(atPath: file.path) else {
      // A join that was interrupted at its very end has left its keys.
      try? FileManager.default.removeItem(at: PendingJoin.file(beside: file))
      throw ValidationError("'\(file.path)' already exists. Choose another file.")
    }
    let pending = try Self.pending(beside: file)
    var joining = try Joining(pending)
    let end = Instant.now + .seconds(patience)
    var isWaiting = false
    while true {
      let found: Credential?
      do { found = try joining.credential() } catch let problem as Problem
        where problem == .notEnrolled
      {
        try? FileManager.default.removeItem(at: PendingJoin.file(beside: file))
        throw PrivateFile.Failure(
          description: "The code has expired or was already used. Ask a guardian for a new one.")
      }
      if let found {
        try found.write(to: file)
        try? FileManager.default.removeItem(at: PendingJoin.file(beside: file))
        print("This device is \(found.name)'s. Its credential is \(file.path) (mode 0600).")
        let agent = found.role.isGuardian ? "parent-agent" : "child-agent"
        print("Next: \(agent) --interactive --credential '\(file.path)' --directory FOLDER")
        return
      }
      guard Instant.now < end else {
        throw PrivateFile.Failure(
          description: "No guardian's device answered within \(patience) seconds. "
            + "Run the command again to resume.")
      }
      if !isWaiting { print("Waiting for the guardian's device …") }
      isWaiting = true
      try await Task.sleep(for: .milliseconds(500))
    }
  }
}
