import ArgumentParser
import Foundation
import PermissionKit

struct OpenWindow: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "window",
    abstract: "Show the chats as JSON lines, and read requests from standard input.")

  /// Bytes of a line on standard input. Above: the window closes.
  private static let lineBytes = 64 << 10

  /// The lines of standard input, which blocks, so that a thread of its own reads it.
  private static func lines() -> AsyncStream<String> {
    let (lines, input) = AsyncStream.makeStream(of: String.self)
    Thread {
      var line = Data()
      while line.count <= lineBytes {
        // A function of stdio would hold a lock that the end of the process needs.
        let bytes = FileHandle.standardInput.availableData
        guard !bytes.isEmpty else { break }
        line += bytes
        while let end = line.firstIndex(of: UInt8(ascii: "\n")) {
          input.yield(String(decoding: line[..<end], as: UTF8.self))
          line = Data(line[(end + 1)...])
        }
      }
      input.finish()
    }.start()
    return lines
  }

  func run() async throws {
    let window = ChatWindow()
    let updates = Task {
      for await response in CommunicationLimits.current.updates { await window.handle(response) }
    }
    let changes = Task {
      for await _ in await CommunicationLimits.current.knownHandleChanges { await window.show() }
    }
    let ticks = Task {
      while !Task.isCancelled {
        await window.show()
        try await Task.sleep(for: .seconds(1))
      }
    }
    for await line in Self.lines() {
      guard await window.process(line) else { break }
    }
    for task in [updates, changes] { task.cancel() }
    ticks.cancel()
    await window.close()
  }
}

/// The window with the chats, whose content changes with the guardians' decisions.
actor ChatWindow {
  private var photos = WindowContent.Photos()
  private var shown: WindowContent?
  /// The chats whose prompt is on the device's screen, and the tasks that wait for answers.
  private var asking: [Int: Task<Void, Never>] = [:]
  private var sharing: Task<Void, Never>?

  /// Processes a line of input.
  ///
  /// - Returns: `false` to close the window.
  func process(_ line: String) async -> Bool {
    guard let request = try? JSONDecoder().decode(WindowRequest.self, from: Data(line.utf8)) else {
      write(.note("The line is not a request of this window."))
      return true
    }
    if request.close != nil { return false }
    if let ask = request.ask { begin(ask.chat) }
    if let reply = request.reply { await self.reply(reply) }
    if request.photos != nil { requestAgeRange() }
    await show()
    return true
  }

  /// Ends the tasks that wait for the device. A prompt may outlive them.
  func close() {
    for task in asking.values { task.cancel() }
    sharing?.cancel()
  }

  /// Records a response. A process that cannot record it receives the response again.
  func handle(_ response: PermissionResponse<CommunicationTopic>) async {
    do {
      try Journal().handle(response, prints: false)
    } catch {
      write(.note("The journal cannot be written: \(error)"))
      exit(EX_IOERR)
    }
    write(
      .handled(
        question: response.question.id.uuidString, choice: response.choice.id, mono: Self.now))
    await show()
  }

  // MARK: Output

  /// Writes the content of the window if it has changed.
  func show() async {
    var chats: [WindowContent.Chat] = []
    for (index, chat) in Chat.all.enumerated() {
      let isOpen = await chat.isOpen
      chats.append(
        WindowContent.Chat(
          chat: index, isOpen: isOpen, isAsked: !isOpen && Asked().isOpen(index),
          title: isOpen ? chat.title : nil, preview: isOpen ? chat.preview : nil,
          picture: isOpen ? chat.picture : nil, handles: chat.sorted.map(Self.document),
          replies: isOpen ? Replies().texts(in: chat) : []))
    }
    let content = WindowContent(chats: chats, photos: photos)
    guard content != shown else { return }
    shown = content
    write(.window(content))
  }

  private static func document(_ handle: CommunicationHandle) -> WindowContent.Handle {
    let kind =
      switch handle.kind {
      case .phoneNumber: "phone"
      case .emailAddress: "email"
      default: "custom"
      }
    return WindowContent.Handle(handle: handle.value, handleKind: kind)
  }

  private func write(_ line: WindowLine) {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    guard let bytes = try? encoder.encode(line) else { return }
    FileHandle.standardOutput.write(bytes + Data("\n".utf8))
  }

  /// Microseconds of the clock since the machine's start.
  private static var now: UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000 + UInt64(time.tv_nsec) / 1_000
  }

  // MARK: Requests

  /// Asks the guardians about the unknown participants of a chat, once at a time.
  private func begin(_ index: Int) {
    guard Chat.all.indices.contains(index) else {
      return write(.note("There is no chat \(index)."))
    }
    guard asking[index] == nil else { return }
    asking[index] = Task {
      await ask(index)
      asking[index] = nil
    }
  }

  private func ask(_ index: Int) async {
    let chat = Chat.all[index]
    let known = await CommunicationLimits.current.knownHandles(in: chat.participants)
    let people = chat.sorted.filter { !known.contains($0) }
    guard !people.isEmpty else { return await show() }
    let topic = CommunicationTopic(
      personInformation: people.map { PersonInformation(handle: $0) }, actions: [.chat])
    let question = PermissionQuestion(communicationTopic: topic)
    let begin = Self.now
    do {
      let result = try await CommunicationLimits.current.askReportingResult(
        question, in: Window.chats)
      guard result != .cancelled else { return }
      var id = question.id
      if case .alreadyAsked(let open) = result { id = open }
      try Asked().add(id.uuidString, index)
      write(.asked(chat: index, question: id.uuidString, mono: begin))
    } catch is CancellationError {
      return
    } catch {
      write(.note(error.localizedDescription))
    }
    await show()
  }

  private func reply(_ reply: WindowRequest.Reply) async {
    guard Chat.all.indices.contains(reply.chat), await Chat.all[reply.chat].isOpen else {
      return write(.note("Chat \(reply.chat) is not open."))
    }
    do {
      try Replies().add(reply.text, to: Chat.all[reply.chat])
    } catch { write(.note("The reply cannot be written: \(error)")) }
  }

  private func requestAgeRange() {
    guard sharing == nil else { return }
    sharing = Task {
      var photos = PhotoSharing()
      await photos.requestAgeRange()
      self.photos = WindowContent.Photos(
        isRequested: true, isEnabled: photos.isEnabled, line: photos.line)
      sharing = nil
      await show()
    }
  }
}

/// The questions that the window has asked: one line each, with the chat.
struct Asked {
  private var file: URL { Journal.file("landmarks.asked") }
  private var lines: [[Substring]] {
    ((try? String(contentsOf: file, encoding: .utf8)) ?? "").split(separator: "\n").map {
      $0.split(separator: " ")
    }
  }

  /// Whether the newest question about a chat has no response yet.
  func isOpen(_ chat: Int) -> Bool {
    guard let last = lines.last(where: { $0.last == "\(chat)" })?.first else { return false }
    return !Journal().contains(String(last))
  }

  func add(_ question: String, _ chat: Int) throws {
    let before = (try? String(contentsOf: file, encoding: .utf8)) ?? ""
    try "\(before)\(question) \(chat)\n".write(to: file, atomically: true, encoding: .utf8)
  }
}

extension Chat {
  /// The participants in a stable order.
  fileprivate var sorted: [CommunicationHandle] {
    participants.sorted { $0.value < $1.value }
  }
}
