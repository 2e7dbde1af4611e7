import Credentials
import FamilyCore
import FamilyModel
import FamilyTrust
import RelayPipeline
import RelayStore
import RelayWire
import ZeroMQ

/// The relay of a family: production's pipeline, with its sockets and its store in memory.
final class InMemoryRelay {
  private static let keys = RelayKeys(
    keys: try! .generate(), administrator: CurvePublicKey(bytes: key(of: 0))!,
    channelSecret: Array(repeating: 5, count: ChannelCipher.keyBytes))
  /// Channels with a cached topic; less than in production, because there is one family.
  private static let cachedChannels = 64

  private let clock: FamilyClock
  private let sockets = InMemorySockets()
  private let pipeline: Pipeline
  /// When the next timer is due.
  private(set) var due: Instant?

  init(_ clock: FamilyClock) {
    self.clock = clock
    var configuration = PipelineConfiguration()
    configuration.shards = 1
    configuration.wakeThreshold = .max
    configuration.cachedChannels = Self.cachedChannels
    // Passcodes have the ideal function, which takes no time.
    configuration.makeMachine = { _ in
      RelayMachine(verify: KeyVault.verify, digest: KeyVault.digest)
    }
    pipeline = Pipeline(
      configuration, keys: Self.keys, store: MemoryEventStore(), sockets: sockets,
      clock: { clock.now }, onFailure: { preconditionFailure("the relay stops: \($0)") })
  }

  /// The CURVE key of a device's connection. Device 0 is the administrator.
  static func key(of device: UInt32) -> [UInt8] {
    Array(repeating: UInt8(truncatingIfNeeded: device), count: 32)
  }

  func send(_ envelope: Envelope, from device: UInt32) {
    sockets.enqueue(envelope.encode(), from: device, key: Self.key(of: device))
  }

  /// Subscribes the device to its inbox if the pipeline approves the subscription.
  func subscribe(_ device: UInt32, to topic: [UInt8]) {
    pipeline.withShards { access in
      let inbox = pipeline.subscribe(to: topic, key: Self.key(of: device), access)
      if let inbox { sockets.subscribe(device, to: inbox) }
    }
  }

  /// Ends the device's subscription.
  func unsubscribe(_ device: UInt32) { sockets.disconnect(device) }

  /// Ends the device's connection.
  func disconnect(_ device: UInt32) { sockets.disconnect(device) }

  /// Handles the requests that wait, and fires the timers that are due.
  ///
  /// - Returns: The messages to the devices, in order.
  func turn() -> [(device: UInt32, InMemorySockets.Message)] {
    pipeline.drainRequests()
    let sleep = pipeline.turn(uptime: .milliseconds(clock.moment.uptime.milliseconds))
    due = sleep.map { clock.now + $0 }
    return sockets.drainMessages()
  }
}
