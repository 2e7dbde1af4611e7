import FamilyModel
import RelayPipeline
import ZeroMQ

/// The relay's sockets in memory: each message arrives, and in order.
final class InMemorySockets: PipelineSockets {
  /// A message of the relay to a device.
  enum Message {
    case reply([UInt8])
    /// The second frame of a broadcast.
    case broadcast([UInt8])
  }

  /// The requests that wait, with the devices and the keys of their connections.
  private var requests: [(device: UInt32, key: [UInt8], bytes: [UInt8])] = []
  /// The messages that wait for their devices.
  private var messages: [(device: UInt32, Message)] = []
  /// The devices that receive the broadcasts of each inbox, by its topic.
  private var subscribers: [[UInt8]: [UInt32]] = [:]

  func enqueue(_ bytes: [UInt8], from device: UInt32, key: [UInt8]) {
    requests.append((device, key, bytes))
  }

  /// Removes the messages that wait for their devices.
  func drainMessages() -> [(device: UInt32, Message)] {
    defer { messages = [] }
    return messages
  }

  func subscribe(_ device: UInt32, to inbox: Inbox) {
    guard !(subscribers[inbox.bytes]?.contains(device) ?? false) else { return }
    subscribers[inbox.bytes, default: []].append(device)
  }

  /// Ends all subscriptions of the device.
  func disconnect(_ device: UInt32) {
    for topic in subscribers.keys { subscribers[topic]!.removeAll { $0 == device } }
  }

  func receive(into message: inout Multipart) -> ReceiveResult {
    guard !requests.isEmpty else { return .nothing }
    let (device, key, bytes) = requests.removeFirst()
    let route = withUnsafeBytes(of: device) { Array($0) }
    message = Multipart(
      [route, [], bytes], maximumParts: message.maximumParts, statedKey: key)
    return .message
  }

  func reply(_ route: [UInt8], _ bytes: [UInt8]) -> Bool {
    messages.append((route.withUnsafeBytes { $0.loadUnaligned(as: UInt32.self) }, .reply(bytes)))
    return true
  }

  func publish(_ topic: [UInt8], _ frame: [UInt8]) {
    for device in subscribers[topic] ?? [] { messages.append((device, .broadcast(frame))) }
  }

  func hasReceivedAll() {}
  var epoch: UInt64 { 0 }
  func muteRequests(_ isMuted: Bool) {}
  func prove(_ descriptor: Int32, receivedIn epoch: UInt64) {}
}
