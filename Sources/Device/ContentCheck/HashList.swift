import Crypto
public import FamilyModel
public import Foundation

/// The reference classifier: a picture is sensitive if the SHA-256 of its bytes is on a list.
///
/// The list is a text file with one hash per line, as 64 hexadecimal digits; `#` begins a comment.
/// A changed file is read before the next verdict. While the file is unreadable, a picture on the
/// last good list is sensitive and every other one `unknown`.
public actor HashList: Classifier {
  /// A file that is not a hash list.
  public struct Failure: Error, CustomStringConvertible {
    /// The path, the line and the reason in one sentence.
    public let description: String
  }

  private let file: URL
  private let onChange: @Sendable (Result<Int, Failure>) -> Void
  private var hashes: Set<Hash> = []
  private var isCurrent = false
  private var lastStamp: FileStamp?
  /// The failure that `onChange` received last.
  private var reportedFailure: String?

  /// Reads the list at once.
  ///
  /// - Parameter onChange: Called after each later change, with the number of hashes or the
  ///   failure.
  /// - Throws: `Failure` if the file is not a hash list.
  public init(
    _ file: URL, onChange: @escaping @Sendable (Result<Int, Failure>) -> Void = { _ in }
  ) throws {
    self.file = file
    self.onChange = onChange
    lastStamp = FileStamp(file)?.ifSettled
    hashes = try Self.read(file)
    isCurrent = true
  }

  /// The number of hashes on the list.
  public var count: Int { hashes.count }

  /// Looks the picture up on the list.
  public func classify(_ picture: Avatar) -> ContentVerdict {
    refresh()
    if hashes.contains(Hash(Array(SHA256.hash(data: picture.bytes)))) { return .sensitive }
    return isCurrent ? .clean : .unknown
  }

  private func refresh() {
    let stamp = FileStamp(file)
    guard stamp == nil || stamp != lastStamp else { return }
    do throws(Failure) {
      let read = try Self.read(file)
      let changed = !isCurrent || read != hashes
      hashes = read
      isCurrent = true
      reportedFailure = nil
      if changed { onChange(.success(read.count)) }
    } catch {
      isCurrent = false
      if reportedFailure != error.description { onChange(.failure(error)) }
      reportedFailure = error.description
    }
    lastStamp = stamp?.ifSettled
  }

  private static func read(_ file: URL) throws(Failure) -> Set<Hash> {
    let path = file.path
    guard let size = FileStamp(file)?.size else {
      throw Failure(description: "There is no \(path).")
    }
    guard size <= ContentLimits.listBytes else {
      throw Failure(description: "\(path) has more than \(ContentLimits.listBytes) bytes.")
    }
    guard let data = try? Data(contentsOf: file) else {
      throw Failure(description: "Cannot read \(path).")
    }
    var hashes: Set<Hash> = []
    var number = 0
    for line in [UInt8](data).split(separator: 0x0A, omittingEmptySubsequences: false) {
      number += 1
      let words = line.prefix { $0 != UInt8(ascii: "#") }.split { $0 <= 0x20 }
      guard let text = words.first else { continue }
      guard words.count == 1, let hash = Hash(hex: text) else {
        throw Failure(description: "\(path), line \(number): not 64 hexadecimal digits.")
      }
      hashes.insert(hash)
    }
    return hashes
  }
}

/// The 32 bytes of a SHA-256.
private struct Hash: Hashable {
  private let words: SIMD4<UInt64>

  init(_ bytes: [UInt8]) {
    var words = SIMD4<UInt64>()
    for (index, byte) in bytes.enumerated() {
      words[index / 8] = words[index / 8] << 8 | UInt64(byte)
    }
    self.words = words
  }

  init?(hex: ArraySlice<UInt8>) {
    guard hex.count == 64 else { return nil }
    var words = SIMD4<UInt64>()
    for (index, character) in hex.enumerated() {
      guard let digit = Character(UnicodeScalar(character)).hexDigitValue else { return nil }
      words[index / 16] = words[index / 16] << 4 | UInt64(digit)
    }
    self.words = words
  }
}

/// The metadata by which a changed file is recognised.
private struct FileStamp: Hashable {
  let size: Int
  private let inode: UInt64
  private let seconds: Int
  private let nanoseconds: Int

  init?(_ file: URL) {
    var status = stat()
    guard stat(file.path, &status) == 0 else { return nil }
    size = Int(status.st_size)
    inode = UInt64(status.st_ino)
    seconds = status.st_mtim.tv_sec
    nanoseconds = status.st_mtim.tv_nsec
  }

  /// The stamp, or `nil` for a file so recent that a further change could leave the same stamp.
  ///
  /// A file system's clock ticks every few milliseconds.
  var ifSettled: FileStamp? {
    let age = Date().timeIntervalSince1970 - Double(seconds) - Double(nanoseconds) / 1e9
    return age > 0.1 ? self : nil
  }
}
