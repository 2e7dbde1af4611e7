/// Operations on eight bytes at a time; the standard library's work byte by byte.
extension UnsafeRawBufferPointer {
  /// Whether both buffers hold equal bytes.
  @inlinable
  package func isSame(as other: UnsafeRawBufferPointer) -> Bool {
    guard count == other.count else { return false }
    var done = 0
    while count - done >= 8 {
      let own = loadUnaligned(fromByteOffset: done, as: UInt64.self)
      guard own == other.loadUnaligned(fromByteOffset: done, as: UInt64.self) else { return false }
      done += 8
    }
    while done < count {
      guard self[done] == other[done] else { return false }
      done += 1
    }
    return true
  }

  /// Whether every byte is ASCII.
  @inlinable
  package var isASCII: Bool {
    var bits: UInt64 = 0
    forEachWord { bits |= $0 }
    return bits & 0x8080_8080_8080_8080 == 0
  }

  /// Calls the body with the bytes as native-endian words. The last word overlaps the one before
  /// it; a buffer of fewer than eight bytes yields one big-endian number.
  @inlinable
  package func forEachWord(_ body: (UInt64) -> Void) {
    var done = 0
    while count - done >= 8 {
      body(loadUnaligned(fromByteOffset: done, as: UInt64.self))
      done += 8
    }
    guard done < count else { return }
    guard count < 8 else {
      return body(loadUnaligned(fromByteOffset: count - 8, as: UInt64.self))
    }
    var last: UInt64 = 0
    while done < count {
      last = last << 8 | UInt64(self[done])
      done += 1
    }
    body(last)
  }
}

extension [UInt8] {
  /// Whether the array and the buffer hold equal bytes.
  @inlinable
  package func isSame(as other: UnsafeRawBufferPointer) -> Bool {
    withUnsafeBytes { $0.isSame(as: other) }
  }
}
