import Foundation

/// The newest document of each part of the page, and the documents of the last hour.
actor Parts {
  /// A part of the page.
  struct Name: Hashable, Sendable {
    /// The name of the page's event.
    var event: String
    /// The device or app, for events of which several exist.
    var key = ""
    /// The language of the document; `nil` for a document of codes and numbers.
    var language: String?
  }
  /// A state of a part.
  struct Document: Sendable {
    var name: Name
    var version: UInt64
    /// Milliseconds since 1970.
    var at: Int64
    /// One JSON document without line breaks.
    var data: Data
  }

  /// The time for which documents are kept to look back at.
  static let keptTime: Int64 = 3_600_000
  /// The bytes of documents that are kept to look back at. Older ones leave first.
  static let keptBytes = 64 << 20

  private var newest: [Name: Document] = [:]
  /// The states at the beginning of `past`.
  private var base: [Name: Document] = [:]
  private var past: [Document] = []
  private var pastBytes = 0
  private var version: UInt64 = 0
  private var readers: [UUID: AsyncStream<Void>.Continuation] = [:]

  /// Replaces a part's document. An equal one changes nothing.
  func set(_ name: Name, _ data: Data, at: Int64) {
    guard newest[name]?.data != data else { return }
    version += 1
    let document = Document(name: name, version: version, at: at, data: data)
    newest[name] = document
    past.append(document)
    pastBytes += data.count
    forget(before: at - Self.keptTime)
    for reader in readers.values { reader.yield() }
  }

  private func forget(before time: Int64) {
    var count = 0
    while count < past.count, past[count].at < time || pastBytes > Self.keptBytes {
      base[past[count].name] = past[count]
      pastBytes -= past[count].data.count
      count += 1
    }
    past.removeFirst(count)
  }

  /// The documents that are newer than a version, oldest first, for a page in this language.
  func documents(after version: UInt64, in language: String) -> [Document] {
    newest.values.filter {
      $0.version > version && ($0.name.language ?? language) == language
    }.sorted { $0.version < $1.version }
  }

  /// The documents of a moment of the past, for a page in this language.
  func documents(at time: Int64, in language: String) -> [Document] {
    var found = base
    for document in past {
      guard document.at <= time else { break }
      found[document.name] = document
    }
    return found.values.filter { ($0.name.language ?? language) == language }
      .sorted { ($0.name.event, $0.name.key) < ($1.name.event, $1.name.key) }
  }

  /// The newest document of a part.
  func document(_ name: Name) -> Data? { newest[name]?.data }

  // MARK: Readers

  /// A stream with an element after each change. A reader that is slow misses states, and never the
  /// newest one.
  func changes() -> (id: UUID, stream: AsyncStream<Void>) {
    let id = UUID()
    let (stream, continuation) = AsyncStream.makeStream(
      of: Void.self, bufferingPolicy: .bufferingNewest(1))
    readers[id] = continuation
    continuation.yield()
    return (id, stream)
  }

  /// Wakes all readers, so that they write to their pages and notice those that are gone.
  func beat() { for reader in readers.values { reader.yield() } }

  /// Ends a reader's stream.
  func end(_ id: UUID) { readers.removeValue(forKey: id)?.finish() }

  /// Ends all streams.
  func endAll() {
    for reader in readers.values { reader.finish() }
    readers = [:]
  }

  var readerCount: Int { readers.count }
}
