import FamilyModel
import Foundation

@testable import chaos

/// The durable state of stores by whole images in memory, as a model for `PowerLoss`.
struct NaivePowerLoss {
  struct File {
    /// The content that reads show; `nil` for a file that does not exist.
    var now: [UInt8]?
    var durable: [UInt8]?
    var unsynced: [(bytes: [UInt8]?, offset: Int)] = []
  }
  /// The files of two stores.
  var files = Array(repeating: File(), count: 2 * PowerLoss.suffixes.count)

  private static func change(_ file: inout [UInt8], _ bytes: [UInt8]?, _ offset: Int) {
    guard let bytes else {
      file = Array(file.prefix(offset)) + Array(repeating: 0, count: max(0, offset - file.count))
      return
    }
    let end = offset + bytes.count
    file += Array(repeating: 0, count: max(0, end - file.count))
    file.replaceSubrange(offset..<end, with: bytes)
  }

  mutating func write(_ index: Int, _ bytes: [UInt8]?, _ offset: Int) {
    var now = files[index].now ?? []
    Self.change(&now, bytes, offset)
    files[index].now = now
    files[index].unsynced.append((bytes, offset))
  }

  mutating func sync(_ index: Int) {
    var durable = files[index].durable ?? []
    for (bytes, offset) in files[index].unsynced { Self.change(&durable, bytes, offset) }
    files[index].durable = durable
    files[index].unsynced = []
  }

  mutating func remove(_ index: Int) { files[index] = File() }

  /// The sectors of `new` that differ from `old`.
  private static func differing(_ old: [UInt8], _ new: [UInt8]) -> [Range<Int>] {
    stride(from: 0, to: new.count, by: DiskRecord.sector).map { start in
      start..<min(start + DiskRecord.sector, new.count)
    }.filter { $0.upperBound > old.count || old[$0] != new[$0] }
  }

  /// Changes what is unsynced, as the next start of the process does.
  mutating func restart() {
    for index in files.indices {
      guard let now = files[index].now else {
        files[index] = File()
        continue
      }
      files[index].unsynced = []
      let old = files[index].durable ?? []
      if now.count < old.count { files[index].unsynced.append((nil, now.count)) }
      for sector in Self.differing(old, now) {
        files[index].unsynced.append((Array(now[sector]), sector.lowerBound))
      }
    }
  }

  mutating func cutPower(_ seed: UInt64) -> Int {
    var random = IDSource(seed: seed)
    let chance = Bool.random(using: &random) ? 0 : Double.random(in: 0...1, using: &random)
    var atRisk = 0
    for index in files.indices {
      guard let now = files[index].now else {
        files[index] = File()
        continue
      }
      guard let old = files[index].durable else {
        atRisk += now.count
        let kept = chance == 0 ? nil : now
        files[index] = File(now: kept, durable: kept)
        continue
      }
      let isNewSize = Double.random(in: 0..<1, using: &random) < chance
      let size = isNewSize ? now.count : old.count
      var kept = Array(old.prefix(size)) + Array(repeating: 0, count: max(0, size - old.count))
      for sector in Self.differing(old, now) {
        atRisk += sector.count
        if Double.random(in: 0..<1, using: &random) < chance, sector.upperBound <= size {
          kept.replaceSubrange(sector, with: now[sector])
        }
      }
      files[index] = File(now: kept, durable: kept)
    }
    return atRisk
  }
}
