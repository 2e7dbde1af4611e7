import Crypto
package import FamilyCore
import FamilyModel
package import Foundation
import Synchronization
import SystemPackage

/// Keeps the settled history of a host's devices in a file without a name, which ends with the process.
///
/// The history has open contents. A random key of the process seals each block, so that the disk reveals
/// nothing. The kernel may drop the file's pages from memory, and reads them again when they are needed.
package final class HistoryFile: HistoryStorage {
  /// Bytes of the file. Above: blocks stay in memory.
  static let capacity = 1 << 30
  /// Bytes of the disk that the file leaves free, for the devices' store. Below: blocks stay in memory.
  static let reserve = 256 << 20
  /// Opened blocks of one device that the host keeps in memory.
  static let cachedBlocksPerDevice = 16
  /// Opened blocks that the host keeps in memory, for few and for many devices.
  static let cachedBlocks = 64...1_024
  /// The unit of a block's room.
  private static let page = 4_096

  private struct State {
    var file: FileDescriptor?
    /// Whether a block found no room.
    var isFull = false
    var end = 0
    /// The offsets of freed blocks by the bytes of their room.
    var free: [Int: [Int]] = [:]
    /// The number of the last block.
    var last = 0
    /// Opened blocks by their place in the cache.
    var cache: [Int: (number: Int, bytes: [UInt8])] = [:]
  }

  package let leastBytes = Limits.historyInMemory
  private let folder: URL
  private let key = SymmetricKey(size: .bits256)
  private let capacity: Int
  private let reserve: Int
  private let cachedBlocks: Int
  private let warn: @Sendable (String) -> Void
  private let fail: @Sendable (String) -> Never
  private let state = Mutex(State())

  /// Creates a storage. The first block creates the file.
  ///
  /// - Parameters:
  ///   - folder: The folder of the file, which has mode 0700.
  ///   - devices: The number of devices of the host.
  ///   - warn: Receives a text when the first block stays in memory.
  ///   - fail: Ends the process, because a block cannot be read.
  package init(
    in folder: URL, devices: Int = 1, capacity: Int = HistoryFile.capacity,
    reserve: Int = HistoryFile.reserve, warn: @escaping @Sendable (String) -> Void = { _ in },
    fail: @escaping @Sendable (String) -> Never
  ) {
    (self.folder, self.capacity, self.reserve) = (folder, capacity, reserve)
    (self.warn, self.fail) = (warn, fail)
    cachedBlocks = min(
      max(devices * Self.cachedBlocksPerDevice, Self.cachedBlocks.lowerBound),
      Self.cachedBlocks.upperBound)
  }

  deinit { try? state.withLock { $0.file }?.close() }

  package func store(_ block: UnsafeRawBufferPointer) -> (any StoredBlock)? {
    state.withLock { state in
      let stored = store(block, &state)
      if stored == nil, !state.isFull {
        state.isFull = true
        warn("the devices' history stays in memory, because its file has no room")
      }
      return stored
    }
  }

  private func store(_ block: UnsafeRawBufferPointer, _ state: inout State) -> Block? {
    guard let file = openFile(&state),
      let sealed = try? AES.GCM.seal(block, using: key, authenticating: Self.name(state.last + 1))
        .combined
    else { return nil }
    let room = Self.room(sealed.count)
    let offset = state.free[room]?.last ?? state.end
    guard offset < state.end || state.end + room <= capacity && hasRoom(for: room, file),
      (try? file.writeAll(toAbsoluteOffset: Int64(offset), sealed)) == sealed.count
    else { return nil }
    if state.free[room]?.popLast() == nil { state.end += room }
    state.last += 1
    return Block(self, state.last, offset: offset, count: sealed.count)
  }

  private func hasRoom(for room: Int, _ file: FileDescriptor) -> Bool {
    var disk = statvfs()
    guard fstatvfs(file.rawValue, &disk) == 0 else { return false }
    return Int(disk.f_bavail) * Int(disk.f_frsize) >= room + reserve
  }

  private func openFile(_ state: inout State) -> FileDescriptor? {
    if state.file == nil {
      let path = FilePath("\(folder.path)/.history-\(UUID().uuidString)")
      state.file = try? FileDescriptor.open(
        path, .readWrite, options: [.create, .exclusiveCreate, .closeOnExec],
        permissions: .ownerReadWrite)
      unlink(path.string)
    }
    return state.file
  }

  /// The bytes of the file's pages that a block takes.
  private static func room(_ count: Int) -> Int { (count + page - 1) / page * page }

  /// Binds a block to its number.
  private static func name(_ number: Int) -> Data {
    withUnsafeBytes(of: UInt64(number).bigEndian) { Data($0) }
  }

  // MARK: Blocks

  private final class Block: StoredBlock {
    private let storage: HistoryFile
    let number: Int
    let offset: Int
    let count: Int

    init(_ storage: HistoryFile, _ number: Int, offset: Int, count: Int) {
      (self.storage, self.number, self.offset, self.count) = (storage, number, offset, count)
    }

    deinit { storage.free(self) }

    func read() -> [UInt8] { storage.read(self) }
  }

  private func read(_ block: Block) -> [UInt8] {
    state.withLock { state in
      let place = block.number % cachedBlocks
      if let cached = state.cache[place], cached.number == block.number { return cached.bytes }
      do {
        let bytes = try open(block, state.file!)
        state.cache[place] = (block.number, bytes)
        return bytes
      } catch {
        fail("the file of the devices' history cannot be read: \(error)")
      }
    }
  }

  private func open(_ block: Block, _ file: FileDescriptor) throws -> [UInt8] {
    var sealed = Data(count: block.count)
    let count = try sealed.withUnsafeMutableBytes { bytes in
      var count = 0
      while count < bytes.count {
        let more = try file.read(
          fromAbsoluteOffset: Int64(block.offset + count),
          into: UnsafeMutableRawBufferPointer(rebasing: bytes[count...]))
        if more == 0 { break }
        count += more
      }
      return count
    }
    let box = try AES.GCM.SealedBox(combined: sealed.prefix(count))
    return [UInt8](try AES.GCM.open(box, using: key, authenticating: Self.name(block.number)))
  }

  /// Frees the room of a block for another one. The file does not get shorter.
  private func free(_ block: Block) {
    state.withLock { state in
      let place = block.number % cachedBlocks
      if state.cache[place]?.number == block.number { state.cache[place] = nil }
      state.free[Self.room(block.count), default: []].append(block.offset)
    }
  }
}
