import Foundation
import SystemPackage

/// Finds the sectors in which a file differs from its durable image.
struct SectorComparison {
  static let sector = 512

  let file: FileDescriptor
  /// The durable image. Without one, every sector differs.
  let image: FileDescriptor?
  let size: Int
  let imageSize: Int

  init(file: FileDescriptor, image: FileDescriptor?) throws {
    self.file = file
    self.image = image
    size = try file.size()
    imageSize = try image?.size() ?? 0
  }

  /// The number of the first sector behind the file.
  var end: Int { (size + Self.sector - 1) / Self.sector }

  /// Calls the body with each differing sector among these, in order, and with its bytes in the file
  /// and in the image. Bytes behind the end of the image are zero.
  func forEach(
    in sectors: RangeSet<Int>,
    _ body: (Range<Int>, _ new: UnsafeRawBufferPointer, _ old: UnsafeRawBufferPointer) throws ->
      Void
  ) throws {
    let chunk = FileDescriptor.chunk
    let buffers = UnsafeMutableRawBufferPointer.allocate(byteCount: 2 * chunk, alignment: 16)
    defer { buffers.deallocate() }
    for range in sectors.ranges {
      let bytes = range.lowerBound * Self.sector..<min(range.upperBound * Self.sector, size)
      for start in stride(from: bytes.lowerBound, to: bytes.upperBound, by: chunk) {
        let count = min(chunk, bytes.upperBound - start)
        let new = UnsafeMutableRawBufferPointer(rebasing: buffers[..<count])
        let old = UnsafeMutableRawBufferPointer(rebasing: buffers[chunk..<chunk + count])
        try file.fill(new, at: start)
        if let image { try image.fill(old, at: start) } else { memset(old.baseAddress!, 0, count) }
        for at in stride(from: 0, to: count, by: Self.sector) {
          let part = at..<min(at + Self.sector, count)
          let isEqual =
            image != nil && start + part.upperBound <= imageSize
            && memcmp(new.baseAddress! + at, old.baseAddress! + at, part.count) == 0
          if isEqual { continue }
          try body(
            start + part.lowerBound..<start + part.upperBound,
            UnsafeRawBufferPointer(rebasing: new[part]), UnsafeRawBufferPointer(rebasing: old[part])
          )
        }
      }
    }
  }
}
