import ArgumentParser

/// Where a relay listens, as it is typed.
public enum Endpoint {
  /// Refuses what libzmq would take for something else: it reads `tcp://127.0.0.1:80x` as port 80.
  ///
  /// - Throws: `ValidationError` with how an endpoint is written.
  public static func check(_ endpoints: String?...) throws {
    for endpoint in endpoints.compactMap({ $0 }) where !isValid(endpoint) {
      throw ValidationError(
        "\(endpoint) is no endpoint: it is written tcp://ADDRESS:PORT or ipc:///PATH, with a path of at"
          + " most \(pathBytes) bytes.")
    }
  }

  /// What the kernel allows for the path of a unix socket.
  static let pathBytes = 107

  private static func isValid(_ text: String) -> Bool {
    if let address = text.wholeMatch(of: /tcp:\/\/.+:([0-9]+)/) {
      return 1...65_535 ~= Int(address.1) ?? 0
    }
    guard let path = text.wholeMatch(of: /ipc:\/\/(.+)/) else { return false }
    return path.1.utf8.count <= pathBytes
  }
}
