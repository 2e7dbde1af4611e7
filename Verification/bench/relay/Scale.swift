import ArgumentParser
import FamilyModel
import Foundation
import Processes
import RelayStore
import RelayWire
import SQLiteStore
import TextTable
import ZeroMQ

/// Measures the same approvals with few families and with a million.
struct Scale: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Measure start-up, memory and cost of an approval for different numbers of families.",
    discussion:
      "A million families with ten events take 5 GB of disk. Run swift build -c release first.")
  @Option(help: "Numbers of families, comma-separated; one run for each.")
  var families = NumberList([1_000, 1_000_000])
  @Option(help: "Events in each family's log.") var events: UInt64 = 10
  @Option(help: "Seconds of each measurement.") var seconds = 10.0
  @Option(help: "Approvals in flight.") var window = 64
  @Option(help: "The folder for the stores.") var directory = "/tmp"

  func run() async throws {
    var rows = [
      [
        "families", "generate, s", "start to first reply, s", "first load, µs", "bytes per family",
        "approvals/s", "relay CPU µs each",
      ]
    ]
    for count in families.values {
      print("\(count) families …")
      rows.append(try measure(UInt64(count)))
    }
    print(Table.render(rows))
  }

  func validate() throws {
    guard families.values.allSatisfy({ $0 > window }), window >= 1, events >= 1, seconds > 0 else {
      throw ValidationError(
        "--families takes numbers above --window, comma-separated: 1000,100000."
          + " --window and --events are 1 or more, --seconds is above 0.")
    }
  }

  /// Measures one number of families.
  ///
  /// - Returns: The table's row.
  private func measure(_ count: UInt64) throws -> [String] {
    let run = try RunFolder("\(directory)/pr-scale-\(getpid())-\(count)")
    defer { run.remove() }
    let folder = run.url
    // The first start creates the keys and the store's file.
    let first = try MeasuredRelay(folder, isPlain: false)
    let address = first.address
    first.process.stop()
    let start = MonotonicInstant.now
    try generate(count, address, folder)
    let made = MonotonicInstant.now
    let relay = try MeasuredRelay(folder, isPlain: false, maxFamilies: Int(count) + 1)
    defer { relay.process.stop() }
    var devices = try Devices(RelayAddress.childDevice, address.child, at: address)
    try attach(&devices, [count / 2])
    let ready = MonotonicInstant.now
    let (memory, cpu) = (relay.process.anonymousBytes, relay.process.cpuSeconds)
    try attach(&devices, Array(1...count))
    let touched = relay.process.cpuSeconds - cpu
    let taken = relay.process.anonymousBytes - memory
    waitUntilIdle(relay)
    let figures = try approvals(&devices, relay, count)
    func text(_ format: String, _ value: Double) -> String { String(format: format, value) }
    return [
      "\(count)", text("%.1f", (made - start).seconds),
      text("%.2f", (ready - made).seconds),
      text("%.1f", touched / Double(count) * 1e6), text("%.0f", Double(taken) / Double(count)),
      text("%.0f", figures.rate), text("%.1f", figures.cpu),
    ]
  }

  /// Waits until the relay has written the attached devices' cursors, which are no part of an
  /// approval.
  private func waitUntilIdle(_ relay: MeasuredRelay) {
    var last = -1.0
    // Longer than the relay's write-behind delay for cursors.
    sleep(12)
    while relay.process.cpuSeconds > last + 0.01 {
      last = relay.process.cpuSeconds
      usleep(500_000)
    }
  }

  /// Fills the store with a roster, questions and answers in each family.
  private func generate(_ count: UInt64, _ address: RelayAddress, _ folder: URL) throws {
    let store = try SQLiteEventStore(path: folder.appendingPathComponent("relay.sqlite").path)
    defer { store.close() }
    // Both devices share a key, so that one connection can act as child and guardian.
    var roster = address.roster
    roster.devices[0].publicKey = address.child.publicKey.bytes
    let content = Content.sealed(Array(repeating: 7, count: 230))
    let conversation = Audience.conversation(RelayAddress.child)
    let now = Int64(Date().timeIntervalSince1970 * 1_000) - 1_000_000
    var ids = IDSource(seed: 1)
    var batch = Batch()
    var questions = [QuestionID](repeating: QuestionID(high: 0, low: 0), count: Int(count) + 1)
    // In order of arrival: one event of every family, then the next event of every family.
    for seq in 1...events {
      for family in 1...count {
        let at = Instant(milliseconds: now + Int64(seq))
        let body: Event.Body
        if seq == 1 {
          body = .rosterChanged(roster)
        } else if seq % 2 == 0 {
          questions[Int(family)] = ids.id(now: at)
          body = .asked(header(questions[Int(family)]), content)
        } else {
          body = .decided(
            Decision(
              question: questions[Int(family)],
              choice: ChoiceHeader(id: "approve", answer: .approval)))
        }
        let audience = seq == 1 ? Audience.family : conversation
        let event = Event(
          seq: seq, previous: seq <= 2 ? 0 : seq - 1, audience: audience, command: ids.id(now: at),
          device: seq == 1 ? DeviceID(0) : DeviceID(seq % 2 == 0 ? 2 : 1), at: at, body: body)
        batch.events.append(
          StoredEvent(
            family: FamilyID(family), seq: seq, audience: audience, device: event.device,
            command: event.command, at: at, payload: event.encode()))
        if seq == events {
          for device in [RelayAddress.guardianDevice, RelayAddress.childDevice] {
            // Cursors at the head: the relay would republish events to a device that lags.
            for cursor in [Cursor(.family, delivered: 1), Cursor(conversation, delivered: seq)] {
              batch.cursors.append(
                StoredCursor(family: FamilyID(family), device: device, cursor: cursor))
            }
          }
        }
        guard batch.events.count == 20_000 || family == count else { continue }
        try store.commit(batch)
        batch.removeAll()
      }
    }
  }

  private func header(_ id: QuestionID) -> QuestionHeader {
    QuestionHeader(
      id: id, child: RelayAddress.child, app: AppID("example.landmarks"),
      subjects: withUnsafeBytes(of: id.low) { Array($0) },
      choices: [
        ChoiceHeader(id: "approve", answer: .approval),
        ChoiceHeader(id: "decline", answer: .denial),
      ], expiration: nil)
  }

  private func attach(_ devices: inout Devices, _ families: [UInt64]) throws {
    var (sent, done) = (0, 0)
    while done < families.count {
      while sent < families.count, sent - done < Devices.requestsInFlight {
        // Cursors at the head, so that the relay republishes nothing.
        try devices.send(
          .attach([
            Cursor(.family, delivered: 1),
            Cursor(.conversation(RelayAddress.child), delivered: events),
          ]), in: families[sent])
        sent += 1
      }
      guard try devices.requests.waitUntilReadable(within: Devices.timeout) else {
        throw RelayUnavailable()
      }
      while let reply = try devices.nextReply() {
        guard case .attached = reply.reply else { throw UnexpectedReply(reply: reply.reply) }
        done += 1
      }
    }
  }

  /// Approvals of random families over replies only: a million subscriptions would measure libzmq.
  private func approvals(_ devices: inout Devices, _ relay: MeasuredRelay, _ count: UInt64) throws
    -> (rate: Double, cpu: Double)
  {
    let conversation = Audience.conversation(RelayAddress.child)
    let content = Content.sealed(Array(repeating: 7, count: 230))
    var asked: [UInt64: QuestionID] = [:]
    var source = IDSource(seed: 3)
    var done = 0
    func run(until end: MonotonicInstant) throws {
      while MonotonicInstant.now < end || !asked.isEmpty {
        while asked.count < window, MonotonicInstant.now < end {
          let family = source.next() % count + 1
          guard asked[family] == nil else { continue }
          let id = devices.newID()
          asked[family] = id
          try devices.send(devices.signed(.ask(header(id), content)), in: family)
        }
        guard try devices.requests.waitUntilReadable(within: Devices.timeout) else {
          throw RelayUnavailable()
        }
        while let reply = try devices.nextReply() {
          guard case .accepted(_, let seq) = reply.reply else {
            throw UnexpectedReply(reply: reply.reply)
          }
          let family = reply.device.family.rawValue
          if reply.device.device == RelayAddress.childDevice {
            try devices.send(
              devices.signed(
                .answer(asked[family]!, choice: "approve"), by: RelayAddress.guardianDevice),
              in: family,
              from: RelayAddress.guardianDevice)
          } else {
            for device in [RelayAddress.guardianDevice, RelayAddress.childDevice] {
              try devices.send(
                .acknowledge([Cursor(conversation, delivered: seq)]), in: family, from: device)
            }
            asked[family] = nil
            done += 1
          }
        }
      }
    }
    try run(until: .now + .seconds(2))
    let (cpu, start, before) = (relay.process.cpuSeconds, MonotonicInstant.now, done)
    try run(until: start + .seconds(seconds))
    let took = (MonotonicInstant.now - start).seconds
    let approvals = Double(done - before)
    return (approvals / took, (relay.process.cpuSeconds - cpu) / approvals * 1e6)
  }
}
