import Crypto
public import FamilyModel
public import Foundation
public import PerceptualHash

/// The reference classifier: a picture is sensitive if a list has the SHA-256 of its bytes, or a
/// perceptual hash near its own.
///
/// The list is a text file with one hash per line. A SHA-256 has 64 hexadecimal digits, and a
/// perceptual hash has `pdq` before its 64 digits; `#` begins a comment. A changed file is read before
/// the next verdict. While the file is unreadable, a picture on the last good list is sensitive and
/// every other one `unknown`. A picture that cannot be compared with the list's perceptual hashes is
/// `unknown`, too.
public actor HashList: Classifier {
  /// A file that is not a hash list.
  public struct Failure: Error, CustomStringConvertible {
    /// The path, the line and the reason in one sentence.
    public let description: String
  }

  private struct Hashes: Equatable {
    /// The SHA-256 of pictures.
    var exact: Set<Bits256> = []
    var perceptual: [PDQHash] = []
    var count: Int { exact.count + perceptual.count }
  }

  private let file: URL
  private let decoder: PictureDecoder?
  private let distance: Int
  private let onChange: @Sendable (Result<Int, Failure>) -> Void
  private var hashes = Hashes()
  private var isCurrent = false
  private var lastStamp: FileStamp?
  /// The failure that `onChange` received last.
  private var reportedFailure: String?

  /// Reads the list at once.
  ///
  /// - Parameters:
  ///   - decoder: Computes the perceptual hashes of pictures. Without one, all pictures are `unknown`
  ///     while the list has perceptual hashes.
  ///   - distance: The largest number of bits in which a picture's perceptual hash differs from one
  ///     of the list.
  ///   - onChange: Called after each later change, with the number of hashes or the failure.
  /// - Throws: `Failure` if the file is not a hash list.
  public init(
    _ file: URL, decoder: PictureDecoder? = nil, distance: Int = PDQHash.recommendedDistance,
    onChange: @escaping @Sendable (Result<Int, Failure>) -> Void = { _ in }
  ) throws {
    self.file = file
    self.decoder = decoder
    self.distance = distance
    self.onChange = onChange
    lastStamp = FileStamp(file)?.ifSettled
    hashes = try Self.read(file)
    isCurrent = true
  }

  /// The number of hashes on the list.
  public var count: Int { hashes.count }

  /// Whether the list has perceptual hashes, so that pictures are decoded.
  public var needsDecoder: Bool { !hashes.perceptual.isEmpty }

  /// Looks the picture up on the list.
  public func classify(_ picture: Avatar) async -> ContentVerdict {
    refresh()
    if let digest = Bits256(Array(SHA256.hash(data: picture.bytes))),
      hashes.exact.contains(digest)
    {
      return .sensitive
    }
    if needsDecoder {
      switch await decoder?.reply(to: picture) {
      case .hashed(let rated) where rated.quality >= PDQHash.recommendedQuality:
        if hashes.perceptual.contains(where: { $0.distance(to: rated.hash) <= distance }) {
          return .sensitive
        }
      // Too little detail to be recognised.
      case .hashed, .tooSmall: break
      case .undecodable, nil: return .unknown
      }
    }
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

  private static func read(_ file: URL) throws(Failure) -> Hashes {
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
    var hashes = Hashes()
    var number = 0
    for line in [UInt8](data).split(separator: 0x0A, omittingEmptySubsequences: false) {
      number += 1
      let words = line.prefix { $0 != UInt8(ascii: "#") }.split { $0 <= 0x20 }
      switch words.count {
      case 0: continue
      case 1:
        guard let hash = Bits256(hex: words[0]) else { break }
        hashes.exact.insert(hash)
        continue
      case 2 where words[0].elementsEqual("pdq".utf8):
        guard let hash = PDQHash(hex: words[1]) else { break }
        hashes.perceptual.append(hash)
        continue
      default: break
      }
      throw Failure(
        description: "\(path), line \(number): not 64 hexadecimal digits, nor `pdq` before them.")
    }
    return hashes
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
