/// Fills a buffer with the next bytes of a long value. Precondition: the buffer is not longer than the
/// rest of the value.
public typealias NextBytes = (UnsafeMutableRawBufferPointer) throws -> Void

extension [UInt8] {
  /// The next bytes of a long value.
  package init(_ count: Int, from next: NextBytes) throws {
    try self.init(unsafeUninitializedCapacity: count) { bytes, filled in
      try next(
        UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(bytes)[..<count]))
      filled = count
    }
  }

  /// Reads the bytes in parts.
  ///
  /// - Parameter body: Receives the number of bytes, and the function that copies the next ones.
  package func readParts<Result>(_ body: (Int, NextBytes) throws -> Result) rethrows -> Result {
    var position = 0
    return try body(count) { buffer in
      withUnsafeBytes { bytes in
        buffer.copyMemory(from: .init(rebasing: bytes[position..<(position + buffer.count)]))
      }
      position += buffer.count
    }
  }
}
