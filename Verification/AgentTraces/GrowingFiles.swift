package import Foundation

/// Reads the lines that processes append to files.
package struct GrowingFiles: Sendable {
  private var offsets: [URL: UInt64] = [:]
  private var partialLines: [URL: Data] = [:]

  package init() {}

  /// The complete lines that were appended since the last call.
  package mutating func newLines(of file: URL) -> [Data] {
    var status = stat()
    // A look at a file without news opens nothing.
    guard stat(file.path, &status) == 0, status.st_size > Int64(offsets[file] ?? 0) else {
      return []
    }
    guard let handle = try? FileHandle(forReadingFrom: file) else { return [] }
    defer { try? handle.close() }
    try? handle.seek(toOffset: offsets[file] ?? 0)
    guard let data = try? handle.readToEnd(), !data.isEmpty else { return [] }
    offsets[file, default: 0] += UInt64(data.count)
    var lines = ((partialLines[file] ?? Data()) + data).split(
      separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    partialLines[file] = lines.removeLast()
    return lines.map { Data($0) }
  }
}
