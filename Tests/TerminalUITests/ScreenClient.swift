@testable import DeviceScreen
import Foundation
import ZeroMQ

/// A client of an agent's screens.
final class ScreenClient {
  struct Failure: Error, CustomStringConvertible { let description: String }

  /// A message of an agent.
  private struct Message: Decodable {
    var screens: [Screen]?
    var done: Int?
    var result: ActResult?
    var problem: ActReply.Refusal?
  }

  private static let patience = Duration.seconds(120)
  private let context: Context
  private let socket: Socket
  private let language: String
  private var lastID = 0
  /// The last screens, by their device.
  private(set) var screens: [UInt32: Screen] = [:]
  private var replies: [ActReply] = []
  /// The number of updates.
  private(set) var updates = 0

  init(_ folder: String, language: String = "en") throws {
    self.language = language
    let context = try Context()
    let socket = try Socket(.dealer, in: context)
    try socket.connect("ipc://\(folder)/\(ScreenServer.file)")
    self.context = context
    self.socket = socket
  }

  func watch(_ language: String? = nil) throws {
    try send(#"{"watch":{"language":"\#(language ?? self.language)"}}"#)
  }

  func send(_ text: String) throws {
    _ = try socket.send([Array(text.utf8)])
  }

  /// Receives until the condition holds, and renews the subscription meanwhile.
  func wait<T>(for expected: String, _ value: () -> T?) async throws -> T {
    let end = ContinuousClock.now + Self.patience
    try watch()
    var renewed = ContinuousClock.now
    while true {
      if let value = value() { return value }
      guard ContinuousClock.now < end else {
        throw Failure(description: "no \(expected); last: \(screens)")
      }
      if ContinuousClock.now - renewed > .seconds(1) {
        try watch()
        renewed = .now
      }
      // A blocked thread would stop the tasks of a host in this process.
      guard let message = try socket.receive() else {
        try await Task.sleep(for: .milliseconds(5))
        continue
      }
      try process(message.bytes(0))
    }
  }

  private func process(_ bytes: [UInt8]) throws {
    let message = try JSONDecoder().decode(Message.self, from: Data(bytes))
    if let new = message.screens {
      updates += 1
      for screen in new { screens[screen.device] = screen }
    } else {
      replies.append(
        ActReply(done: message.done, result: message.result, problem: message.problem))
    }
  }

  /// The first screen of the device for which the condition holds.
  func screen(_ device: UInt32, _ expected: String, where isExpected: (Screen) -> Bool) async throws
    -> Screen
  {
    try await wait(for: expected) { screens[device].flatMap { isExpected($0) ? $0 : nil } }
  }

  /// The result of an act on a device of family 1.
  @discardableResult
  func act(_ device: UInt32, _ act: String) async throws -> ActReply {
    lastID += 1
    let id = lastID
    try send(#"{"id":\#(id),"device":"1-\#(device)","act":\#(act)}"#)
    return try await reply(to: id)
  }

  /// The reply with this number; `nil` for one without a number.
  func reply(to id: Int?) async throws -> ActReply {
    try await wait(for: "reply to \(String(describing: id))") {
      replies.firstIndex { $0.done == id }.map { replies.remove(at: $0) }
    }
  }
}
