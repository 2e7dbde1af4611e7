import Foundation
import GatewayModel
import ProcessCluster
import ZeroMQ

/// The console's connections to the screens of agents, one for each agent and language.
actor ScreenClient {
  /// The time between two messages that keep a connection watched.
  static let renewal = Nanoseconds.seconds(3)
  /// Seconds that an agent may take to answer an act.
  static let patience = 15.0
  /// The largest message of an agent in bytes.
  static let messageBytes: Int64 = 16 << 20

  /// A connection's agent and language.
  struct LineName: Hashable, Sendable {
    var process: String
    var language: String
  }

  /// A connection. Confined to the client's thread.
  private final class Line {
    let socket: Socket
    init(_ socket: consuming Socket) { self.socket = socket }
  }

  private nonisolated let thread: SocketThread
  nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }
  private let context: Context
  private let layout: Layout
  private let received: @Sendable (LineName, [JSONValue]) -> Void
  private var lines: [LineName: Line] = [:]
  private var nextRenewal = MonotonicInstant.now
  private var acts: [UInt64: CheckedContinuation<JSONValue, any Error>] = [:]
  private var lastAct: UInt64 = 0
  private var message = Multipart(maximumParts: 1)

  /// - Parameter received: Called on the client's thread with the screens of an agent.
  init(_ layout: Layout, received: @escaping @Sendable (LineName, [JSONValue]) -> Void) throws {
    self.layout = layout
    self.received = received
    thread = try SocketThread(name: "screens")
    context = try Context()
  }

  func start() {
    thread.onTurn { [weak self] now in self?.assumeIsolated { $0.renew(now) } ?? nil }
  }

  func stop() { thread.stop() }

  /// Watches the screens of an agent in a language.
  func watch(_ name: LineName) throws {
    guard lines[name] == nil else { return }
    var options = SocketOptions()
    options.maximumMessageSize = Self.messageBytes
    let socket = try Socket(.dealer, in: context, options: options)
    try socket.connect(
      "ipc://" + layout.agent(name.process).appendingPathComponent("screen.ipc").path)
    let line = Line(socket)
    lines[name] = line
    thread.watch(line.socket) { [weak self] in self?.assumeIsolated { $0.drain(name) } }
    send(.object(["watch": .object(["language": .string(name.language)])]), on: line)
  }

  /// Asks all watched agents for their screens, such as one that has just started.
  private func renew(_ now: MonotonicInstant) -> MonotonicInstant {
    if now >= nextRenewal {
      nextRenewal = now + Self.renewal
      for (name, line) in lines {
        send(.object(["watch": .object(["language": .string(name.language)])]), on: line)
      }
    }
    return nextRenewal
  }

  @discardableResult
  private func send(_ value: JSONValue, on line: Line) -> Bool {
    (try? line.socket.send([Array(value.data)])) == .sent
  }

  private func drain(_ name: LineName) {
    guard let line = lines[name] else { return }
    while (try? line.socket.receive(into: &message)) == .message {
      guard case .object(let members) = try? JSONValue.parse(Data(message.bytes(0))) else {
        continue
      }
      if case .array(let screens) = members["screens"] { received(name, screens) }
      if case .number(let number) = members["done"] { finish(UInt64(number), members) }
    }
  }

  // MARK: Acts

  /// Performs an act on a device, and returns its result.
  ///
  /// - Throws: ``ConsoleRefusal``.
  func act(_ act: JSONValue, on device: String, _ name: LineName) async throws -> JSONValue {
    try watch(name)
    lastAct += 1
    let number = lastAct
    let message = JSONValue.object([
      "id": .number(Double(number)), "device": .string(device), "act": act,
    ])
    let timeout = Task { [weak self] in
      try await Task.sleep(for: .seconds(Self.patience))
      await self?.expire(number)
    }
    defer { timeout.cancel() }
    return try await withCheckedThrowingContinuation { continuation in
      acts[number] = continuation
      if let line = lines[name], !send(message, on: line) { expire(number) }
    }
  }

  private func expire(_ number: UInt64) {
    acts.removeValue(forKey: number)?.resume(
      throwing: ConsoleRefusal(text: "The agent does not answer.", isUnreachable: true))
  }

  private func finish(_ number: UInt64, _ members: [String: JSONValue]) {
    guard let act = acts.removeValue(forKey: number) else { return }
    guard case .object(let problem) = members["problem"] else {
      return act.resume(returning: members["result"] ?? .null)
    }
    var refusal = ConsoleRefusal(text: "")
    if case .number(let code) = problem["code"] { refusal.code = Int(code) }
    if case .string(let text) = problem["text"] { refusal.text = text }
    act.resume(throwing: refusal)
  }
}
