import Foundation
import NIOCore
import NIOPosix
import Synchronization

/// A TCP proxy between agents and relay that injects network faults.
package final class FaultProxy: Sendable {
  private let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)

  package init() {}

  /// Opens a link to the relay's port, with its own listening port.
  package func link(to port: Int) async throws -> ProxyLink {
    let link = ProxyLink()
    let server = try await ServerBootstrap(group: group)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .childChannelInitializer { incoming in link.open(incoming, to: port) }
      .bind(host: "127.0.0.1", port: 0).get()
    link.port = server.localAddress!.port!
    return link
  }

  package func stop() async { try? await group.shutdownGracefully() }
}

/// The proxied connections of one agent to one of the relay's sockets.
package final class ProxyLink: Sendable {
  package struct Faults: Sendable {
    /// Whether connections are closed and new ones refused.
    package var isCut = false
    /// Whether bytes to the relay are held back.
    package var holdsUp = false
    /// Whether bytes from the relay are held back.
    package var holdsDown = false
    /// The slowness in both directions.
    package var slowness = Slowness()

    package init() {}

    fileprivate var up: (holds: Bool, Slowness) { (holdsUp, slowness) }
    fileprivate var down: (holds: Bool, Slowness) { (holdsDown, slowness) }
  }
  private struct State {
    var faults = Faults()
    var port = 0
    var channels: [ObjectIdentifier: any Channel] = [:]
  }
  private let state = Mutex(State())

  package var port: Int {
    get { state.withLock { $0.port } }
    set { state.withLock { $0.port = newValue } }
  }
  package var faults: Faults { state.withLock { $0.faults } }

  /// Changes the link's faults.
  package func set(_ change: (inout Faults) -> Void) {
    let cut = state.withLock { state in
      change(&state.faults)
      return state.faults.isCut ? Array(state.channels.values) : []
    }
    for channel in cut { channel.close(promise: nil) }
  }

  /// Closes all connections. Agents may reconnect at once.
  package func reset() {
    for channel in state.withLock({ Array($0.channels.values) }) { channel.close(promise: nil) }
  }

  fileprivate func open(_ incoming: any Channel, to port: Int) -> EventLoopFuture<Void> {
    guard !faults.isCut else { return incoming.close() }
    track(incoming)
    let up = Pump { [weak self] in self?.faults.up ?? (false, ProxyLink.Slowness()) }
    let down = Pump { [weak self] in self?.faults.down ?? (false, ProxyLink.Slowness()) }
    return ClientBootstrap(group: incoming.eventLoop)
      .channelInitializer { $0.pipeline.addHandler(down) }
      .connect(host: "127.0.0.1", port: port)
      .flatMap { outgoing in
        self.track(outgoing)
        up.partner = outgoing
        down.partner = incoming
        return incoming.pipeline.addHandler(up)
      }
  }

  private func track(_ channel: any Channel) {
    let id = ObjectIdentifier(channel)
    state.withLock { $0.channels[id] = channel }
    channel.closeFuture.whenComplete { [weak self] _ in
      self?.state.withLock { $0.channels[id] = nil }
    }
  }
}

/// Forwards bytes from its channel to the partner's. Confined to their event loop.
final class Pump: ChannelInboundHandler, @unchecked Sendable {
  typealias InboundIn = ByteBuffer
  /// The number of buffered bytes at which the pump stops reading.
  static let limit = 1 << 20
  /// The interval at which buffered bytes are forwarded.
  static let interval = TimeAmount.milliseconds(5)
  /// The percentage of reads that stall.
  static let stalls = 5

  var partner: (any Channel)?
  private let faults: () -> (holds: Bool, ProxyLink.Slowness)
  private var waiting: [(due: NIODeadline, bytes: ByteBuffer)] = []
  private var bytes = 0
  private var isScheduled = false

  init(_ faults: @escaping () -> (holds: Bool, ProxyLink.Slowness)) { self.faults = faults }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let buffer = unwrapInboundIn(data)
    let (_, slowness) = faults()
    let stall = Int.random(in: 0..<100) < Self.stalls ? slowness.stall : 0
    waiting.append((.now() + .milliseconds(slowness.delay + stall), buffer))
    bytes += buffer.readableBytes
    if bytes > Self.limit { _ = context.channel.setOption(.autoRead, value: false) }
    if slowness.rate == nil { drain(context.channel) } else { schedule(context.channel) }
  }

  private func drain(_ channel: any Channel) {
    let (holds, slowness) = faults()
    let now = NIODeadline.now()
    var room = slowness.rate ?? .max
    while !holds, room > 0, let partner, let first = waiting.first, first.due <= now {
      let part = waiting[0].bytes.readSlice(length: min(room, first.bytes.readableBytes))!
      if waiting[0].bytes.readableBytes == 0 { waiting.removeFirst() }
      room -= part.readableBytes
      bytes -= part.readableBytes
      partner.writeAndFlush(part, promise: nil)
    }
    if bytes <= Self.limit { _ = channel.setOption(.autoRead, value: true) }
    schedule(channel)
  }

  private func schedule(_ channel: any Channel) {
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
