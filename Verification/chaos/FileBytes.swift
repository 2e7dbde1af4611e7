import Foundation
import SystemPackage

/// Reads and copies of parts of a file.
extension FileDescriptor {
  /// The bytes that are read or copied at once.
  static let chunk = 1 << 16

  /// The size of the file in bytes.
  func size() throws -> Int { Int(try seek(offset: 0, from: .end)) }

  /// Fills the buffer from the offset. Bytes behind the end of the file are zero.
  func fill(_ buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws {
    var done = 0
    while done < buffer.count {
      let count = try read(
        fromAbsoluteOffset: Int64(offset + done),
        into: UnsafeMutableRawBufferPointer(rebasing: buffer[done...]))
      guard count > 0 else { break }
      done += count
    }
    if done < buffer.count { memset(buffer.baseAddress! + done, 0, buffer.count - done) }
  }

  /// Copies the bytes of another file to the offset.
  func copy(_ range: Range<Int>, of source: FileDescriptor, to offset: Int) throws {
    guard !range.isEmpty else { return }
    try withUnsafeTemporaryAllocation(byteCount: Self.chunk, alignment: 16) { buffer in
      for start in stride(from: range.lowerBound, to: range.upperBound, by: Self.chunk) {
        let count = min(Self.chunk, range.upperBound - start)
        let bytes = UnsafeMutableRawBufferPointer(rebasing: buffer[..<count])
        try source.fill(bytes, at: start)
        try writeAll(toAbsoluteOffset: Int64(offset + start - range.lowerBound), bytes)
      }
    }
  }
}
