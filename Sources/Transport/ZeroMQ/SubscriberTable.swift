/// The connections of an XPUB by the topic to which each one is subscribed.
///
/// A topic may have several connections: a host that reconnects leaves its former one behind. An XPUB in
/// manual mode revokes no approval, so a connection keeps its topic until it ends or gets another one.
struct SubscriberTable {
  private var connections: [[UInt8]: [Int32]] = [:]
  private var topics: [Int32: [UInt8]] = [:]

  /// The descriptors of the topic's connections.
  subscript(topic: [UInt8]) -> [Int32] { connections[topic] ?? [] }

  mutating func subscribe(_ descriptor: Int32, to topic: [UInt8]) {
    guard topics[descriptor] != topic else { return }
    remove(descriptor)
    topics[descriptor] = topic
    connections[topic, default: []].append(descriptor)
  }

  /// Forgets an ended connection.
  mutating func remove(_ descriptor: Int32) {
    guard let topic = topics.removeValue(forKey: descriptor) else { return }
    let others = connections[topic]?.filter { $0 != descriptor } ?? []
    connections[topic] = others.isEmpty ? nil : others
  }
}
