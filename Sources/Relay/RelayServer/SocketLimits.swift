import FamilyModel
import ZeroMQ

/// The bounds of the relay's sockets. Each constant states its unit and what happens at the bound.
enum SocketLimits {
  /// Threads of libzmq. One thread encrypts about 250,000 messages per second for both sockets.
  static let ioThreads: Int32 = 2
  /// Messages that wait for one peer. Further replies and broadcasts are dropped: the peer retries
  /// a request, and fetches after a gap in broadcasts.
  static let sendHighWaterMark: Int32 = 10_000
  /// Messages of one peer that wait for the relay. Then libzmq stops reading from the peer.
  static let receiveHighWaterMark: Int32 = 10_000
  /// Bytes of one frame on the broadcast socket, including the handshake's. Subscriptions have
  /// fewer than 50. A peer that sends more is disconnected.
  static let subscriptionBytes: Int64 = 1_024
  /// File descriptors reserved for the store, logs and the process itself. Connections share the
  /// others.
  static let reservedDescriptors = 128
  /// Connections of each socket with one key. Above, the oldest are closed: a device has one,
  /// and a short second one after a change of its network.
  static let connectionsPerKey = 16
  /// The time between two checks of the connections' traffic.
  static let connectionCheckInterval = Nanoseconds.milliseconds(250)

  /// The limits of the request socket: the burst holds a device's outbox with pictures. Before a
  /// device has attached, its burst holds four frames of the largest size.
  static func requests(connections: Int, _ queues: QueueLimits) -> ConnectionLimits {
    ConnectionLimits(
      connections: connections, perOwner: connectionsPerKey,
      proven: .init(burst: 32 << 20, perSecond: 2 << 20),
      unproven: .init(burst: 4 << 20, perSecond: 64 << 10), unprovenTimeout: unprovenTimeout,
      queues: queues, unfinished: unfinishedTimeout)
  }

  /// The limits of the broadcast socket. A host has one subscription, and repeats it at most once a
  /// second in fewer than 256 bytes. A requested topic stays in libzmq until its connection ends. At
  /// the end of any connection libzmq walks all topics.
  static func broadcasts(connections: Int, _ queues: QueueLimits) -> ConnectionLimits {
    ConnectionLimits(
      connections: connections, perOwner: connectionsPerKey,
      proven: .init(burst: 8 << 10, perSecond: 1 << 10),
      unproven: .init(burst: 8 << 10, perSecond: 256), unprovenTimeout: unprovenTimeout,
      queues: queues)
  }

  /// The time after which a Unix socket's peer that completes no request is disconnected while memory is
  /// critical.
  private static let unfinishedTimeout = Nanoseconds.seconds(2)

  /// The time after which a peer without proof of identity is disconnected, when half of the
  /// connections are in use.
  private static let unprovenTimeout = Nanoseconds.seconds(30)
}
