import Foundation

/// Free ports outside the ephemeral range. A client of an ephemeral port could connect to itself
/// while the relay is down.
package enum FreePorts {
  package static func pair() throws -> (Int, Int) {
    var found: [Int] = []
    var port = 20_000 + Int(getpid()) % 5_000 * 2
    while found.count < 2, port < 32_000 {
      port += 1
      if isFree(port) { found.append(port) }
    }
    guard found.count == 2 else {
      throw NoFreePort(description: "No port is free between 20000 and 32000.")
    }
    return (found[0], found[1])
  }

  private static func isFree(_ port: Int) -> Bool {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(descriptor) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(port).bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    return withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
      }
    }
  }
}

/// No port is free for a cluster.
package struct NoFreePort: Error, CustomStringConvertible {
  package let description: String
}
