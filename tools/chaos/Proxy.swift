import Foundation
import NIOCore
import NIOPosix
import Synchronization

/// Stands between the agents and the relay, and does to their connections what networks do.
final class FaultProxy: Sendable {
  private let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)

  /// A way to the relay's port, at a port of its own.
  func lane(to port: Int) async throws -> Lane {
    let lane = Lane()
    let server = try await ServerBootstrap(group: group)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .childChannelInitializer { incoming in lane.open(incoming, to: port) }
      .bind(host: "127.0.0.1", port: 0).get()
    lane.port = server.localAddress!.port!
    return lane
  }

  func stop() async { try? await group.shutdownGracefully() }
}

/// One agent's way to one of the relay's sockets.
final class Lane: Sendable {
  struct Faults: Sendable {
    /// Connections are closed, and new ones refused.
    var isCut = false
    /// Bytes wait, both ways or one: to the relay, and from it.
    var holdsUp = false
    var holdsDown = false
    /// Milliseconds by which bytes are late.
    var delay: Int64 = 0
  }
  private struct State {
    var faults = Faults()
    var port = 0
    var channels: [ObjectIdentifier: any Channel] = [:]
  }
  private let state = Mutex(State())

  var port: Int {
    get { state.withLock { $0.port } }
    set { state.withLock { $0.port = newValue } }
  }
  var faults: Faults { state.withLock { $0.faults } }

  /// Changes what is wrong with it.
  func set(_ change: (inout Faults) -> Void) {
    let cut = state.withLock { state in
      change(&state.faults)
      return state.faults.isCut ? Array(state.channels.values) : []
    }
    for channel in cut { channel.close(promise: nil) }
  }

  /// Closes what is open; agents may connect again at once.
  func reset() {
    for channel in state.withLock({ Array($0.channels.values) }) { channel.close(promise: nil) }
  }

  fileprivate func open(_ incoming: any Channel, to port: Int) -> EventLoopFuture<Void> {
    guard !faults.isCut else { return incoming.close() }
    note(incoming)
    let up = Pump { [weak self] in self.map { ($0.faults.holdsUp, $0.faults.delay) } ?? (false, 0) }
    let down = Pump { [weak self] in
      self.map { ($0.faults.holdsDown, $0.faults.delay) } ?? (false, 0)
    }
    return ClientBootstrap(group: incoming.eventLoop)
      .channelInitializer { $0.pipeline.addHandler(down) }
      .connect(host: "127.0.0.1", port: port)
      .flatMap { outgoing in
        self.note(outgoing)
        up.partner = outgoing
        down.partner = incoming
        return incoming.pipeline.addHandler(up)
      }
  }

  private func note(_ channel: any Channel) {
    let id = ObjectIdentifier(channel)
    state.withLock { $0.channels[id] = channel }
    channel.closeFuture.whenComplete { [weak self] _ in
      self?.state.withLock { $0.channels[id] = nil }
    }
  }
}

/// Carries bytes from its channel to the partner's. It is confined to their event loop.
private final class Pump: ChannelInboundHandler, @unchecked Sendable {
  typealias InboundIn = ByteBuffer
  /// Bytes that wait here; then the sender has to.
  static let limit = 1 << 20
  /// How often what waits is looked at.
  static let interval = TimeAmount.milliseconds(5)

  var partner: (any Channel)?
  private let faults: () -> (holds: Bool, delay: Int64)
  private var waiting: [(due: NIODeadline, bytes: ByteBuffer)] = []
  private var bytes = 0
  private var isScheduled = false

  init(_ faults: @escaping () -> (holds: Bool, delay: Int64)) { self.faults = faults }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let buffer = unwrapInboundIn(data)
    waiting.append((.now() + .milliseconds(faults().delay), buffer))
    bytes += buffer.readableBytes
    if bytes > Self.limit { _ = context.channel.setOption(.autoRead, value: false) }
    drain(context.channel)
  }

  private func drain(_ channel: any Channel) {
    let (holds, _) = faults()
    let now = NIODeadline.now()
    var count = 0
    while !holds, let partner, count < waiting.count, waiting[count].due <= now {
      bytes -= waiting[count].bytes.readableBytes
      partner.writeAndFlush(waiting[count].bytes, promise: nil)
      count += 1
    }
    waiting.removeFirst(count)
    if bytes <= Self.limit { _ = channel.setOption(.autoRead, value: true) }
    guard !waiting.isEmpty, !isScheduled else { return }
    isScheduled = true
    channel.eventLoop.scheduleTask(in: Self.interval) {
      self.isScheduled = false
      self.drain(channel)
    }
  }

  func channelInactive(context: ChannelHandlerContext) {
    partner?.close(promise: nil)
    partner = nil
    waiting = []
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    context.close(promise: nil)
  }
}
