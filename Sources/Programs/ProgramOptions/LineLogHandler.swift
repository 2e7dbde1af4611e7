import Foundation
import Logging

/// Renders each message as one line for a ``LogWriter``.
struct LineLogHandler: LogHandler {
  let label: String
  let format: LogOptions.Format
  let writer: LogWriter
  var logLevel = Logger.Level.info
  var metadata: Logger.Metadata = [:]

  init(label: String, format: LogOptions.Format, writer: LogWriter) {
    self.label = label
    self.format = format
    self.writer = writer
  }

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) { writer.write(line(event, at: Date()), format: format) }

  /// The line without its end.
  func line(_ event: LogEvent, at time: Date) -> String {
    var all = metadata.merging(event.metadata ?? [:]) { $1 }
    if let error = event.error { all["error"] = "\(error)" }
    switch format {
    case .text:
      let pairs = all.sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value)" }.joined()
      return
        "\(Self.stamp(time, fractions: false)) \(event.level) \(label):\(pairs) [\(event.source)] \(event.message)"
    case .json:
      let line = Line(
        time: Self.stamp(time, fractions: true),
        level: event.level.rawValue, logger: label, source: event.source,
        message: "\(event.message)", metadata: all.mapValues { "\($0)" })
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
      return (try? encoder.encode(line)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
    }
  }

  private static func stamp(_ time: Date, fractions: Bool) -> String {
    time.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: fractions))
  }

  private struct Line: Encodable {
    var time: String
    var level: String
    var logger: String
    var source: String
    var message: String
    var metadata: [String: String]
  }
}
