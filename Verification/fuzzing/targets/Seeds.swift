import FamilyCore
import FamilyModel
import RelayWire

extension FuzzTarget {
  /// Inputs from which the fuzzer starts: the traffic of one family, in the format of each target.
  public var seeds: [[UInt8]] {
    let (plain, signed) = (SampleTraffic(isSigned: false), SampleTraffic(isSigned: true))
    switch self {
    case .wire:
      let events = plain.events + signed.events
      let all = [
        plain.requests + signed.requests, plain.replies + signed.replies,
        events.map { Broadcast.encode(event: $0) }, events, plain.appRequests, plain.appReplies,
      ]
      return all.enumerated().flatMap { kind, list in list.map { [UInt8(kind)] + $0 } }
    case .core:
      return [
        [0] + chunks(plain.requests, after: [3, 0]), [0] + chunks(plain.requests, after: [1, 0]),
        [1] + chunks(signed.requests, after: [3, 0]), [1] + chunks(signed.requests, after: [1, 0]),
      ]
        + [Array(0...200), (0..<200).map { UInt8($0 % 7) }]
    case .records:
      let log = chunks(plain.events)
      let records = chunks(plain.records.flatMap { [$0.key.bytes, $0.value] })
      let app = chunks(plain.appRecords.flatMap { [$0.key, $0.value] })
      let sealed = chunks(signed.records.flatMap { [$0.key.bytes, $0.value] })
      return [
        [0] + log, [1] + records, [2] + records, [3] + app, [4] + sealed, [5] + sealed,
        [0] + chunks(signed.events),
      ]
    case .device:
      let broadcasts = chunks(plain.events.map { Broadcast.encode(event: $0) }, after: [2])
      let replies = chunks(plain.replies, after: [0])
      let asks = chunks(plain.appRequests, after: [6, 1, 1, 6, 1, 3, 5])
      let timer: [UInt8] = [4, 10, 7]
      let sealed = chunks(signed.events.map { Broadcast.encode(event: $0) }, after: [2])
      let answers = chunks(signed.replies, after: [0])
      return [
        [0] + broadcasts, [0] + replies + broadcasts + timer, [0] + asks + replies + broadcasts,
        [1] + sealed, [1] + answers + sealed + timer, [1] + asks + answers + sealed,
      ]
    case .content:
      let id = [UInt8](1...8)
      let frame: [UInt8] = [3, 16, 16] + [UInt8](repeating: 7, count: 8 + 3 * 256)
      return [
        [0] + chunks([[1], id, Array("image/png".utf8), Self.picture]),
        [1] + chunks([[1], id, [1], [0, 0]]), [1] + chunks([[1], id, [2], [1, 49]]), [2, 1, 1, 0],
        [3, 0, 90] + [UInt8](0..<32), [3, 1], [4] + frame, [4, 4], [5, 1],
        [7, 6, 2, 1, 1, 2, 3, 4, 5, 6],
      ]
        + ["www.example.co.uk", "bücher.example", "[2001:db8::1]", "192.0.2.1", "ck"].map {
          [6] + Array($0.utf8)
        }
    case .member, .acts, .app:
      // Numbers without a pattern, of which each part selects acts and values.
      return (0..<(self == .app ? 24 : 4)).map { seed in
        var numbers = IDSource(seed: UInt64(seed))
        return [UInt8(seed)]
          + (0..<24 * (seed + 1)).map { _ in UInt8(truncatingIfNeeded: numbers.next()) }
      }
    }
  }

  /// The signature and the head of a PNG picture of one pixel.
  private static let picture: [UInt8] = [
    0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52, 0, 0, 0, 1,
    0, 0, 0, 1, 8, 0, 0, 0, 0, 0x3A, 0x7E, 0x9B, 0x55,
  ]

  private func chunk(_ bytes: [UInt8]) -> [UInt8] {
    [UInt8(truncatingIfNeeded: bytes.count >> 8), UInt8(truncatingIfNeeded: bytes.count)] + bytes
  }

  private func chunks(_ list: [[UInt8]], after prefix: [UInt8] = []) -> [UInt8] {
    var all: [UInt8] = []
    for bytes in list { all += prefix + chunk(bytes) }
    return all
  }
}
