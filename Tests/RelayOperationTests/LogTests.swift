import Foundation
import Logging
import Testing

@testable import ProgramOptions

@Suite struct LogTests {
  private func event(_ message: String, _ metadata: Logger.Metadata? = nil) -> LogEvent {
    LogEvent(
      level: .notice, message: "\(message)", metadata: metadata, source: "Tests", file: "",
      function: "", line: 0)
  }

  @Test("O9: a line of text has the time, level, logger, metadata, source and message")
  func text() {
    let handler = LineLogHandler(label: "relay", format: .text, writer: .standardError)
    let line = handler.line(
      event("stopping", ["b": "2", "a": "1"]), at: Date(timeIntervalSince1970: 0))
    #expect(line == "1970-01-01T00:00:00Z notice relay: a=1 b=2 [Tests] stopping")
  }

  @Test("O9: a line of JSON is one object, whatever the message contains")
  func json() throws {
    let handler = LineLogHandler(label: "relay", format: .json, writer: .standardError)
    let line = handler.line(event("a \"quote\"\nand a line", ["n": "1"]), at: Date())
    #expect(!line.contains("\n"))
    let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
    #expect(object?["message"] as? String == "a \"quote\"\nand a line")
    #expect(object?["level"] as? String == "notice")
    #expect(object?["logger"] as? String == "relay")
    #expect(object?["metadata"] as? [String: String] == ["n": "1"])
    let stamp = try #require(object?["time"] as? String)
    #expect(stamp.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z/) != nil, "\(stamp)")
  }

  @Test(
    "O9: a reader that stalls loses lines, learns how many, and never stops the writer",
    arguments: [LogOptions.Format.text, .json])
  func stalledReader(_ format: LogOptions.Format) throws {
    var ends: [Int32] = [0, 0]
    #expect(pipe(&ends) == 0)
    let writer = LogWriter(descriptor: ends[1])
    let line = String(repeating: "x", count: 1_000)
    // Far more than the pipe and the queue hold.
    let count = 5_000
    for _ in 0..<count { writer.write(line, format: format) }
    let reading = FileHandle(fileDescriptor: ends[0])
    var (text, whole, dropped) = ("", 0, 0)
    // Lines after a statement about dropped ones may still wait.
    var readable = pollfd(fd: ends[0], events: Int16(POLLIN), revents: 0)
    while whole + dropped < count, poll(&readable, 1, 60_000) == 1 {
      text += String(decoding: reading.availableData, as: UTF8.self)
      guard let end = text.lastIndex(of: "\n") else { continue }
      for statement in text[...end].split(separator: "\n") {
        if statement == line { whole += 1 } else { dropped += try dropping(statement, format) }
      }
      text.removeSubrange(...end)
    }
    #expect(dropped > 0 && whole + dropped == count)
    close(ends[1])
  }

  @Test("O9: a line of a trace is in the pipe when the call returns, and a full pipe stops no call")
  func trace() throws {
    var ends: [Int32] = [0, 0]
    #expect(pipe(&ends) == 0)
    let writer = LogWriter(descriptor: ends[1], writesAtOnce: true)
    let reading = FileHandle(fileDescriptor: ends[0])
    var readable = pollfd(fd: ends[0], events: Int16(POLLIN), revents: 0)
    for number in 0..<100 {
      writer.write("line \(number)")
      #expect(poll(&readable, 1, 0) == 1, "the line waits")
      #expect(reading.availableData == Data("line \(number)\n".utf8))
    }
    // More than the pipe holds, and fewer bytes than may wait.
    let line = String(repeating: "x", count: 990)
    for number in 100..<600 { writer.write("\(line) \(number)") }
    var text = ""
    while !text.hasSuffix(" 599\n"), poll(&readable, 1, 60_000) == 1 {
      text += String(decoding: reading.availableData, as: UTF8.self)
    }
    #expect(text == (100..<600).map { "\(line) \($0)\n" }.joined())
    close(ends[1])
  }

  /// The number of dropped lines that a statement in the log names.
  private func dropping(_ statement: Substring, _ format: LogOptions.Format) throws -> Int {
    if format == .json { _ = try JSONSerialization.jsonObject(with: Data(statement.utf8)) }
    let match = try #require(statement.firstMatch(of: /(\d+) lines of the log/))
    return try #require(Int(match.1))
  }
}
