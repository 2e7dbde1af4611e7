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
      + "argument, because other users of the machine can read arguments.")

  @Option(help: "The credential file to write (mode 0600). The file must not exist yet.")
  var credential: String
  @Option(help: "Seconds to wait for the guardian's device.") var patience = 900

  public init() {}

  /// Reads the code, which may span several lines.
  private static func readCode() throws -> JoinCode {
    var text = ""
    while let line = readLine(), !line.isEmpty {
      text += line
      if let code = try? JoinCode(text: text) { return code }
    }
    return try JoinCode(text: text)
  }

  public func run() async throws {
    PrivateFile.restrictNewFilesToOwner()
    let file = URL(fileURLWithPath: credential)
    guard !FileManager.default.fileExists(atPath: file.path) else {
      throw ValidationError("'\(file.path)' already exists. Choose another file.")
    }
    if isatty(STDIN_FILENO) == 1 { print("Enter the code from the guardian's screen:") }
    var joining = try Joining(try Self.readCode())
    let end = Instant.now + .seconds(patience)
    var isWaiting = false
    while true {
      let found: Credential?
      do { found = try joining.credential() } catch let problem as Problem
        where problem == .notEnrolled
      {
        throw PrivateFile.Failure(
          description: "The code has expired or was already used. Ask a guardian for a new one.")
      }
      if let found {
        try found.write(to: file)
        print("This device is \(found.name)'s. Its credential is \(file.path) (mode 0600).")
        let agent = found.role.isGuardian ? "parent-agent" : "child-agent"
        print("Next: \(agent) --interactive --credential '\(file.path)' --directory FOLDER")
        return
      }
      guard Instant.now < end else {
        throw PrivateFile.Failure(
          description: "No guardian's device answered within \(patience) seconds. Try again.")
      }
      if !isWaiting { print("Waiting for the guardian's device …") }
      isWaiting = true
      try await Task.sleep(for: .milliseconds(500))
    }
  }
}
