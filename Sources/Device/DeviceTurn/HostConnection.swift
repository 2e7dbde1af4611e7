import FamilyModel
import ZeroMQ

/// The state of a connection between one key and the relay, which all hosted devices of that key
/// share.
struct HostConnection {
  /// The presence of the attached devices.
  var presence = Presence()
  /// The bound on the questions in flight.
  var questionWindow = QuestionWindow<DeviceAddress>()
  /// The subscription to the broadcasts.
  var subscription = InboxSubscription()
  /// The first reader of each channel, which is mostly the only one, by the channel's topic.
  private var firstReaders: [[UInt8]: DeviceAddress] = [:]
  private var furtherReaders: [[UInt8]: [DeviceAddress]] = [:]

  func firstReader(of topic: [UInt8]) -> DeviceAddress? { firstReaders[topic] }

  func furtherReaders(of topic: [UInt8]) -> [DeviceAddress] {
    furtherReaders.isEmpty ? [] : furtherReaders[topic] ?? []
  }

  /// Adds a reader of the channel.
  mutating func add(_ address: DeviceAddress, to topic: [UInt8]) {
    if firstReaders[topic] == nil {
      firstReaders[topic] = address
    } else {
      furtherReaders[topic, default: []].append(address)
    }
  }

  /// Removes a reader of the channel.
  mutating func remove(_ address: DeviceAddress, from topic: [UInt8]) {
    var others = furtherReaders(of: topic)
    defer { furtherReaders[topic] = others.isEmpty ? nil : others }
    guard firstReaders[topic] == address else { return others.removeAll { $0 == address } }
    firstReaders[topic] = others.isEmpty ? nil : others.removeFirst()
  }
}

/// The subscription of a connection to the inbox that the relay named last.
struct InboxSubscription {
  /// The time between two repetitions for devices that miss broadcasts. Many devices of a host may
  /// miss some at once.
  static let interval = Nanoseconds.seconds(1)

  /// The inbox that the relay named last.
  var inbox: Inbox?
  private var subscribed: Inbox?
  private var repeatedAt: MonotonicInstant?

  /// The topics to unsubscribe from and to subscribe to; `nil` if nothing changes.
  ///
  /// - Parameter repeats: Whether a device misses broadcasts, so that the relay may not have approved
  ///   the subscription.
  mutating func change(repeats: Bool, now: MonotonicInstant)
    -> (unsubscribe: [UInt8]?, subscribe: [UInt8])?
  {
    guard let inbox else { return nil }
    if inbox == subscribed {
      guard repeats, repeatedAt.map({ now >= $0 + Self.interval }) ?? true else { return nil }
      repeatedAt = now
    }
    defer { subscribed = inbox }
    // libzmq does not send a subscription that it counts already.
    return (subscribed?.subscription, inbox.subscription)
  }
}
