/// A walk through the frames of a write-ahead log, which finds its last commit and damage before it.
///
/// SQLite ends the log at the first frame that is not valid, and so drops every later commit without
/// an error. A power cut can damage only the last commit, because each commit is synced before the
/// next one starts. Two commits after the first invalid frame are therefore damage of the disk.
///
/// Source: section 4 of https://www.sqlite.org/fileformat2.html.
package struct LogScan {
  private static let headerBytes = 32
  private static let frameHeaderBytes = 24
  private static let magic: UInt32 = 0x377F_0682

  /// Bytes of a frame: its header and a page.
  private let frameBytes: Int
  private let isBigEndian: Bool
  private let salts: UInt64
  private var sums: Sums
  private var frames = 0
  private var isBroken = false
  private var commitsAfterBreak = 0
  /// Frames up to the last valid commit: those that SQLite reads.
  package private(set) var committedFrames = 0

  /// Walks through a log of this size; `nil` if its header is not valid, which SQLite treats as an
  /// empty log.
  ///
  /// - Parameter read: Fills the bytes from an offset of the log.
  package init?(
    size: Int64, read: (_ bytes: inout [UInt8], _ offset: Int64) throws -> Void
  ) rethrows {
    var header = [UInt8](repeating: 0, count: Self.headerBytes)
    guard size >= header.count else { return nil }
    try read(&header, 0)
    guard var scan = header.withUnsafeBytes({ LogScan(header: $0) }) else { return nil }
    var frame = [UInt8](repeating: 0, count: scan.frameBytes)
    for offset in stride(from: Int64(header.count), to: size, by: frame.count)
    where offset + Int64(frame.count) <= size {
      try read(&frame, offset)
      frame.withUnsafeBytes { scan.add($0) }
    }
    self = scan
  }

  /// Starts the walk.
  private init?(header: UnsafeRawBufferPointer) {
    func number(_ index: Int) -> UInt32 { Self.number(header, 4 * index) }
    guard header.count == Self.headerBytes, number(0) & ~1 == Self.magic else { return nil }
    isBigEndian = number(0) & 1 == 1
    sums = Sums()
    sums.add(UnsafeRawBufferPointer(rebasing: header[..<24]), isBigEndian)
    guard sums == Sums(number(6), number(7)) else { return nil }
    frameBytes = Self.frameHeaderBytes + Int(number(2))
    salts = header.loadUnaligned(fromByteOffset: 16, as: UInt64.self)
  }

  /// Whether commits follow a damaged one.
  package var isDamaged: Bool { commitsAfterBreak > 1 }

  /// Bytes of the log up to its last valid commit.
  var committedBytes: Int64 { Int64(Self.headerBytes + committedFrames * frameBytes) }

  /// Adds the next frame.
  private mutating func add(_ frame: UnsafeRawBufferPointer) {
    let isOfThisLog = frame.loadUnaligned(fromByteOffset: 8, as: UInt64.self) == salts
    let isCommit = Self.number(frame, 4) != 0
    if !isBroken {
      sums.add(UnsafeRawBufferPointer(rebasing: frame[..<8]), isBigEndian)
      sums.add(UnsafeRawBufferPointer(rebasing: frame[Self.frameHeaderBytes...]), isBigEndian)
      isBroken = !isOfThisLog || sums != Sums(Self.number(frame, 16), Self.number(frame, 20))
    }
    frames += 1
    if isBroken {
      if isOfThisLog, isCommit { commitsAfterBreak += 1 }
    } else if isCommit {
      committedFrames = frames
    }
  }

  private static func number(_ bytes: UnsafeRawBufferPointer, _ offset: Int) -> UInt32 {
    UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
  }

  /// The checksum of all frames so far.
  private struct Sums: Equatable {
    var first: UInt32 = 0
    var second: UInt32 = 0

    init() {}
    init(_ first: UInt32, _ second: UInt32) { (self.first, self.second) = (first, second) }

    /// Precondition: the number of bytes is a multiple of eight.
    mutating func add(_ bytes: UnsafeRawBufferPointer, _ isBigEndian: Bool) {
      var (first, second, offset) = (first, second, 0)
      while offset < bytes.count {
        var word = bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self).littleEndian
        if isBigEndian { word = (word.byteSwapped >> 32) | (word.byteSwapped << 32) }
        first &+= UInt32(truncatingIfNeeded: word) &+ second
        second &+= UInt32(truncatingIfNeeded: word >> 32) &+ first
        offset += 8
      }
      (self.first, self.second) = (first, second)
    }
  }
}
