import FamilyModel

/// The state of a connection between one key and the relay, which all hosted devices of that key
/// share.
struct HostConnection {
  /// The presence of the attached devices.
  var presence = Presence()
  /// The bound on the questions in flight.
  var questionWindow = QuestionWindow<DeviceAddress>()
  /// The first subscriber of each topic, which is mostly the only one.
  private var firstSubscribers: [[UInt8]: DeviceAddress] = [:]
  private var furtherSubscribers: [[UInt8]: [DeviceAddress]] = [:]

  func firstSubscriber(of topic: [UInt8]) -> DeviceAddress? { firstSubscribers[topic] }

  func furtherSubscribers(of topic: [UInt8]) -> [DeviceAddress] {
    furtherSubscribers.isEmpty ? [] : furtherSubscribers[topic] ?? []
  }

  /// Adds a subscriber.
  ///
  /// - Returns: Whether it is the first one, so that the connection subscribes.
  mutating func add(_ address: DeviceAddress, to topic: [UInt8]) -> Bool {
    guard firstSubscribers[topic] == nil else {
      furtherSubscribers[topic, default: []].append(address)
      return false
    }
    firstSubscribers[topic] = address
    return true
  }

  /// Removes a subscriber.
  ///
  /// - Returns: Whether none is left, so that the connection ends its subscription.
  mutating func remove(_ address: DeviceAddress, from topic: [UInt8]) -> Bool {
    var others = furtherSubscribers(of: topic)
    defer { furtherSubscribers[topic] = others.isEmpty ? nil : others }
    guard firstSubscribers[topic] == address else {
      others.removeAll { $0 == address }
      return false
    }
    firstSubscribers[topic] = others.isEmpty ? nil : others.removeFirst()
    return firstSubscribers[topic] == nil
  }
}
