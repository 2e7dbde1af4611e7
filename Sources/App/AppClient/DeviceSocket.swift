public import DeviceConnection
public import FamilyModel
import Foundation
import RelayWire
import ZeroMQ

/// An app's connection to its device over a ZeroMQ socket.
public actor DeviceSocket: DeviceConnection {
  /// A credential that cannot open a connection.
  public struct Failure: Error, CustomStringConvertible {
    /// The reason in one sentence.
    public let description: String
  }

  private nonisolated let thread: SocketThread
  /// The executor of the socket thread.
  public nonisolated var unownedExecutor: UnownedSerialExecutor {
    thread.asUnownedSerialExecutor()
  }
  /// The events of the connection, in order.
  public nonisolated let events: AsyncStream<DeviceEvent>
  private let continuation: AsyncStream<DeviceEvent>.Continuation
  private let credential: AppCredential
  private let context: Context
  private var socket: Socket?
  private var monitor: Monitor?
  private var isConnected = false
  private var message = Multipart(maximumParts: 4)

  /// Connects in the background, and reconnects whenever the connection is lost.
  ///
  /// - Throws: `ZeroMQError` if the process has no further sockets or threads.
  public init(_ credential: AppCredential) throws {
    self.credential = credential
    (events, continuation) = AsyncStream.makeStream()
    context = try Context()
    thread = try SocketThread(name: "device")
    Task { try await self.connect() }
  }

  private func connect() throws {
    guard let keys = CurveKeyPair(secretZ85: credential.secretKey),
      let device = CurvePublicKey(z85: credential.devicePublicKey)
    else { throw Failure(description: "The app's credential has no valid keys.") }
    var options = SocketOptions()
    options.security = .client(keys, server: device)
    options.maximumMessageSize = Int64(Limits.frameBytes)
    let socket = try Socket(.dealer, in: context, options: options)
    let monitor = try Monitor(socket, in: context)
    thread.watch(socket) { [weak self] in self?.assumeIsolated { $0.drain() } }
    thread.watch(monitor.socket) { [weak self] in self?.assumeIsolated { $0.drainMonitor() } }
    try socket.connect(credential.endpoint)
    self.socket = consume socket
    self.monitor = consume monitor
  }

  private func drainMonitor() {
    let wasConnected = isConnected
    _ = try? monitor?.drain { event in
      switch event.kind {
      case .handshakeSucceeded:
        isConnected = true
        continuation.yield(.connected)
      case .disconnected:
        isConnected = false
        continuation.yield(.disconnected)
      default: break
      }
    }
    // The app repeats its requests after the next handshake.
    if wasConnected, !isConnected { try? socket?.renewConnection(to: credential.endpoint) }
  }

  private func drain() {
    while let result = try? socket?.receive(into: &message), result != .nothing {
      guard message.count == 2 else { continue }
      let reply = message.withBytes(1) { try? AppReply.decode($0) }
      if let reply { continuation.yield(.reply(reply)) }
    }
  }

  /// Ends the connection. Later requests are dropped.
  func close() {
    thread.stop()
    continuation.finish()
  }

  public func send(_ request: AppRequest) {
    guard isConnected else { return }
    _ = try? socket?.send([[], request.encode()])
  }
}
