import Glibc

/// Messages to the service manager in the protocol of systemd's `sd_notify`.
///
/// Source: the manual page sd_notify(3). Without `NOTIFY_SOCKET` nothing is sent.
public struct ServiceNotifier: Sendable {
  /// The states of a service.
  public enum State: String, Sendable {
    case ready = "READY=1"
    case stopping = "STOPPING=1"
    case watchdog = "WATCHDOG=1"
  }

  private let path: String?

  /// Notifies the manager that started this process, if it asked for it.
  public init() { self.init(path: getenv("NOTIFY_SOCKET").map { String(cString: $0) }) }

  /// - Parameter path: A Unix socket; one in the abstract name space begins with `@`.
  init(path: String?) { self.path = path }

  /// Sends the state. A manager that is gone changes nothing.
  public func notify(_ state: State) {
    guard let path, path.hasPrefix("/") || path.hasPrefix("@") else { return }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    var bytes = [UInt8](path.utf8)
    guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else { return }
    if bytes[0] == UInt8(ascii: "@") { bytes[0] = 0 }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
    let length = socklen_t(MemoryLayout<sa_family_t>.size + bytes.count)
    let descriptor = socket(
      AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    let text = [UInt8](state.rawValue.utf8)
    _ = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        sendto(descriptor, text, text.count, Int32(MSG_NOSIGNAL), $0, length)
      }
    }
  }
}
