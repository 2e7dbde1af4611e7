import Foundation
import SystemPackage

/// Reads of parts of a file.
extension FileDescriptor {
  /// The bytes that are read at once.
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
}
