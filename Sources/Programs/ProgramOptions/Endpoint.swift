import ArgumentParser

/// The address where a relay listens, as an option gives it.
public enum Endpoint {
  /// Validates endpoints more strictly than libzmq, which reads `tcp://127.0.0.1:80x` as port 80.
  ///
  /// - Throws: `ValidationError` that quotes the first invalid endpoint.
  public static func check(_ endpoints: String?...) throws {
    for endpoint in endpoints.compactMap({ $0 }) where !isValid(endpoint) {
      throw ValidationError(
        "'\(endpoint)' is not an endpoint. Write tcp://ADDRESS:PORT or ipc:///PATH, with a path of"
          + " at most \(pathBytes) bytes.")
    }
  }

  /// Checks that the two sockets of a relay have different endpoints.
  ///
  /// - Throws: `ValidationError` that quotes the endpoint.
  public static func checkDistinct(_ requests: String?, _ broadcasts: String?) throws {
    guard let requests, requests == broadcasts else { return }
    throw ValidationError(
      "--requests and --broadcasts are both '\(requests)'. Give each its own port or path.")
  }

  /// The kernel's limit for the path of a Unix socket.
  static let pathBytes = 107

  private static func isValid(_ text: String) -> Bool {
    if let address = text.wholeMatch(of: /tcp:\/\/.+:([0-9]+)/) {
      return 1...65_535 ~= Int(address.1) ?? 0
    }
    guard let path = text.wholeMatch(of: /ipc:\/\/(.+)/) else { return false }
    return path.1.utf8.count <= pathBytes
  }
}
