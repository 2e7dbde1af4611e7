public import ArgumentParser
import Credentials
import FamilyModel
import Foundation
import RelayClient
import SystemClock

/// `join` of the agents: makes this device's keys and its credential, with a guardian's code.
public struct Join: AsyncParsableCommand {
  public static let configuration = CommandConfiguration(
    commandName: "join",
    abstract: "Make this device's keys and join a family with a guardian's code.",
    discussion:
      "The code is typed or pasted when it is asked for, or comes from standard input: arguments can be "
      + "seen by others.")

  @Option(help: "The credential file to write (0600); it must not be there.") var credential: String
  @Option(help: "Seconds to wait for the guardian's device.") var patience = 900

  public init() {}

  /// The code may have been broken into lines.
  private static func readCode() throws -> JoinCode {
    var text = ""
    while let line = readLine(), !line.isEmpty {
      text += line
      if let code = try? JoinCode(text: text) { return code }
    }
    return try JoinCode(text: text)
  }

  public func run() async throws {
    PrivateFile.keepToOwner()
    let file = URL(fileURLWithPath: credential)
    guard !FileManager.default.fileExists(atPath: file.path) else {
      throw ValidationError("\(file.path) is there already: choose another name.")
    }
    if isatty(STDIN_FILENO) == 1 { print("The code on the guardian's screen:") }
    var joining = try Joining(try Self.readCode())
    let end = Instant.now + Int64(patience) * 1_000
    var isWaiting = false
    while true {
      let found: Credential?
      do { found = try joining.credential() } catch let problem as Problem
        where problem == .notEnrolled
      {
        throw PrivateFile.Failure(
          description: "The code is used, or expired: ask a guardian for a new one.")
      }
      if let found {
        try found.write(to: file)
        print("This device is \(found.name)'s. Its credential is \(file.path) (0600).")
        return
      }
      guard Instant.now < end else {
        throw PrivateFile.Failure(description: "No guardian's device has answered; try again.")
      }
      if !isWaiting { print("Waiting for the guardian's device …") }
      isWaiting = true
      try await Task.sleep(for: .milliseconds(500))
    }
  }
}
