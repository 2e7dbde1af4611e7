package import ContentCheck
package import DeviceAgent
import FamilyModel
package import Foundation
package import Logging
import ServiceLifecycle
import Synchronization
import SystemClock
import TerminalUI
import Wording
import ZeroMQ

/// Serves the screens of a host's devices to programs of the same user, as JSON at a socket.
///
/// A client sends `watch` and receives all screens, then again after each change. Acts of the owner
/// are numbered by the client, and each has one result.
package actor ScreenServer: Service {
  /// The socket's file in the agent's folder, which only its owner can open.
  package static let file = "screen.ipc"

  private nonisolated let thread: SocketThread
  /// The server's thread.
  package nonisolated var unownedExecutor: UnownedSerialExecutor {
    thread.asUnownedSerialExecutor()
  }

  let host: AgentHost
  let responder: ScreenResponder
  private let checker: (any ContentChecker)?
  private let endpoint: String
  private let logger: Logger
  private let context: Context
  private let socket: Socket
  private var message = Multipart(maximumParts: 2)
  private var watchers = Watchers()
  private var pictures = Pictures()
  private var wordings: [Language: Wording] = [:]
  /// Whether a view, a prompt or a refusal has changed since the last update began.
  private nonisolated let hasChanged = Mutex(false)
  private var isUpdating = false
  private var nextUpdate = MonotonicInstant.machineStart
  private var nextTick = MonotonicInstant.machineStart
  /// The acts that wait for their result.
  private var acts = 0

  /// Creates the server of a host.
  ///
  /// - Parameter directory: The folder of the socket; mode 0700.
  /// - Parameter checker: Checks pictures; `nil`: every picture has a warning.
  /// - Throws: `ZeroMQError` if the thread or the socket cannot be created.
  package init(
    _ host: AgentHost, _ responder: ScreenResponder, at directory: URL,
    checker: (any ContentChecker)? = nil, logger: Logger
  ) throws {
    self.host = host
    self.responder = responder
    self.checker = checker
    self.logger = logger
    endpoint = "ipc://" + directory.appendingPathComponent(Self.file).path
    thread = try SocketThread(name: "screen")
    context = try Context()
    var options = SocketOptions()
    options.maximumMessageSize = Int64(ScreenLimits.messageBytes)
    options.sendHighWaterMark = ScreenLimits.unreadMessages
    socket = try Socket(.router, in: context, options: options)
  }

  /// Runs until a graceful shutdown or the cancellation of the task.
  ///
  /// - Throws: `ZeroMQError` if the endpoint cannot be bound.
  package func run() async throws {
    defer { thread.stop() }
    try socket.bind(endpoint)
    thread.watch(socket) { [weak self] in self?.assumeIsolated { $0.drain() } }
    thread.onTurn { [weak self] now in self?.assumeIsolated { $0.turn(now) } ?? nil }
    responder.watch { [weak self] in self?.changed() }
    await host.watch { [weak self] in self?.changed() }
    try? await gracefulShutdown()
  }

  /// Records a change. Any thread may call the method.
  nonisolated func changed() {
    let isFirst = hasChanged.withLock { hasChanged in
      defer { hasChanged = true }
      return !hasChanged
    }
    if isFirst { thread.requestTurn() }
  }

  // MARK: Messages

  private func drain() {
    do {
      for _ in 0..<ScreenLimits.drain {
        let result = try socket.receive(into: &message)
        guard result != .nothing else { return }
        guard result == .message, message.count == 2 else { continue }
        process(Data(message.bytes(1)), from: message.bytes(0))
      }
    } catch { logger.error("screen endpoint", metadata: ["error": "\(error)"]) }
  }

  private func process(_ bytes: Data, from route: [UInt8]) {
    let decoder = JSONDecoder()
    guard let message = try? decoder.decode(ClientMessage.self, from: bytes) else {
      let number = try? decoder.decode(MessageNumber.self, from: bytes)
      return refuse(.malformed, number?.id, route)
    }
    if let watch = message.watch {
      let language = Language.best(for: [watch.language])
      guard watchers.watch(route, language, now: .now) else {
        return refuse(.tooMany, message.id, route)
      }
      changed()
    }
    guard let id = message.id else { return }
    guard let act = message.act, let address = address(message.device) else {
      return refuse(message.act == nil ? .malformed : .unknown, id, route)
    }
    guard acts < ScreenLimits.acts else { return refuse(.overloaded, id, route) }
    acts += 1
    let wording = wording(watchers.all[route]?.language ?? .english)
    Task {
      var reply = ActReply(done: id)
      do throws(ActRefusal) {
        reply.result = try await self.carryOut(act, on: address, wording)
      } catch { reply.problem = error.document(wording) }
      acts -= 1
      send(reply, to: route)
      changed()
    }
  }

  private func address(_ key: String?) -> DeviceAddress? {
    host.configuration.credentials.map(\.address).first { $0.key == key }
  }

  private func refuse(_ problem: Problem, _ id: Int?, _ route: [UInt8]) {
    let wording = wording(watchers.all[route]?.language ?? .english)
    send(ActReply(done: id, problem: ActRefusal(problem).document(wording)), to: route)
  }

  private func send(_ reply: ActReply, to route: [UInt8]) {
    guard let bytes = Self.encode(reply) else { return }
    // A client that has left, or does not read, misses the reply.
    _ = try? socket.send([route, bytes])
  }

  func wording(_ language: Language) -> Wording {
    if let wording = wordings[language] { return wording }
    let wording = Wording(language)
    wordings[language] = wording
    return wording
  }

  // MARK: Updates

  /// Starts an update if one is due.
  ///
  /// - Returns: The time of the next check; `nil` while no client watches.
  private func turn(_ now: MonotonicInstant) -> MonotonicInstant? {
    watchers.forgetSilent(now: now)
    guard !watchers.isEmpty else { return nil }
    if now >= nextTick {
      nextTick = now + ScreenLimits.tick
      hasChanged.withLock { $0 = true }
    }
    guard !isUpdating, hasChanged.withLock({ $0 }) else { return nextTick }
    guard now >= nextUpdate else { return min(nextTick, nextUpdate) }
    nextUpdate = now + ScreenLimits.pause
    hasChanged.withLock { $0 = false }
    isUpdating = true
    Task {
      await update()
      isUpdating = false
    }
    return nextTick
  }

  /// Computes the documents of all devices, and sends each to the clients that lack it.
  private func update() async {
    var sources: [DeviceSource] = []
    for credential in host.configuration.credentials {
      guard var source = await source(of: credential.address, credential.role) else { continue }
      check(&source)
      sources.append(source)
    }
    var updates: [Language: [UInt8]] = [:]
    for language in watchers.languages {
      updates[language] = Self.update(sources, wording(language), now: .now)
    }
    for route in watchers.due(updates) {
      guard let language = watchers.all[route]?.language, let update = updates[language] else {
        continue
      }
      switch try? socket.send([route, update]) {
      case .sent: watchers.sent(update, to: route)
      case .unreachable: watchers.forget(route)
      case .full, nil: break
      }
    }
  }

  private func source(of address: DeviceAddress, _ role: Role) async -> DeviceSource? {
    guard let view = await host.view(of: address) else { return nil }
    var source = DeviceSource(
      view: view, role: role, manifests: host.configuration.manifests,
      prompts: responder.prompts(of: address), refusals: responder.refusals(of: address))
    for person in source.people {
      source.ages[person.id] = await host.ageExplanations(of: person.id, on: address)
    }
    return source
  }

  /// Starts the content check for pictures of open questions, in detached tasks.
  private func check(_ source: inout DeviceSource) {
    defer { source.pictures = pictures }
    guard let checker else { return }
    for picture in pictures.unchecked(of: source.openCards) {
      Task.detached { [weak self] in
        await self?.record(await checker.verdict(on: picture), for: picture)
      }
    }
  }

  private func record(_ verdict: ContentVerdict, for picture: Avatar) {
    pictures.record(verdict, for: picture)
    changed()
  }

  /// The encoded update with at most ``ScreenLimits/updateBytes``, if entries alone exceed them.
  static func update(_ sources: [DeviceSource], _ wording: Wording, now: Instant) -> [UInt8]? {
    var entries = ScreenLimits.entries
    while true {
      let screens = sources.map { Screen($0, wording, now: now, entries: entries) }
      let bytes = encode(ScreensMessage(screens: screens))
      guard let bytes, bytes.count > ScreenLimits.updateBytes, entries > 1 else { return bytes }
      entries /= 2
    }
  }

  /// The value as JSON. Equal values have equal bytes.
  private static func encode(_ value: some Encodable) -> [UInt8]? {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return (try? encoder.encode(value)).map { [UInt8]($0) }
  }
}
