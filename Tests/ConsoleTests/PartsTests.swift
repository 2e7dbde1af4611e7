import Foundation
import Testing

@testable import ClusterConsole

@Suite struct PartsTests {
  private static let log = Parts.Name(event: "log")

  private func texts(_ documents: [Parts.Document]) -> [String] {
    documents.map { String(decoding: $0.data, as: UTF8.self) }
  }

  @Test("X4: a page receives each changed part once, in its language") func changes() async {
    let parts = Parts()
    await parts.set(Self.log, Data("1".utf8), at: 1)
    await parts.set(.init(event: "device", key: "1-1", language: "fr"), Data("f".utf8), at: 2)
    await parts.set(.init(event: "device", key: "1-1", language: "en"), Data("e".utf8), at: 3)
    let first = await parts.documents(after: 0, in: "en")
    #expect(texts(first) == ["1", "e"])
    await parts.set(Self.log, Data("1".utf8), at: 4)
    #expect(await parts.documents(after: first.last!.version, in: "en").isEmpty)
    await parts.set(Self.log, Data("2".utf8), at: 5)
    #expect(texts(await parts.documents(after: first.last!.version, in: "en")) == ["2"])
  }

  @Test("X4: a slow page misses states, and never the newest one") func slow() async {
    let parts = Parts()
    let (id, stream) = await parts.changes()
    for number in 1...1_000 { await parts.set(Self.log, Data("\(number)".utf8), at: 1) }
    await parts.end(id)
    var wakes = 0
    for await _ in stream { wakes += 1 }
    #expect(wakes == 1)
    #expect(texts(await parts.documents(after: 0, in: "en")) == ["1000"])
  }

  @Test("X4: the past shows each part as it was, for an hour") func past() async {
    let parts = Parts()
    for time: Int64 in [10, 20, 30] { await parts.set(Self.log, Data("\(time)".utf8), at: time) }
    #expect(await parts.documents(at: 5, in: "en").isEmpty)
    #expect(texts(await parts.documents(at: 25, in: "en")) == ["20"])
    await parts.set(Self.log, Data("late".utf8), at: 30 + Parts.keptTime + 1)
    #expect(texts(await parts.documents(at: 25, in: "en")) == ["30"])
  }

  @Test("X4: the past has a limit in bytes") func bytes() async {
    let parts = Parts()
    let large = Parts.keptBytes / 4
    for number in 0..<8 {
      let bytes = Data(repeating: UInt8(number), count: large)
      await parts.set(Self.log, bytes, at: Int64(number))
    }
    #expect(await parts.documents(at: 0, in: "en").map(\.data.first) == [3])
    #expect(await parts.documents(at: 5, in: "en").map(\.data.first) == [5])
  }
}
