import ArgumentParser
import FamilyModel
import Foundation
import Processes
import RelayStore
import RelayWire
import SQLiteStore
import ZeroMQ

/// The same approvals in few families and in very many.
struct Scale: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Start, memory, and the cost of an approval with few families and with very many.",
    discussion:
      "A million families with ten events take 5 GB of disk. swift build -c release first.")
  @Option(help: "How many families, with commas between the runs.")
  var families = NumberList([1_000, 1_000_000])
  @Option(help: "Events of each family.") var events: UInt64 = 10
  @Option(help: "Seconds of each measurement.") var seconds = 10.0
  @Option(help: "Approvals on the way.") var window = 64
  @Option(help: "Where the databases are made.") var directory = "/tmp"

  func run() async throws {
    print(
      "families    make, s   start to first reply, s   first touch, µs   bytes a family   approvals/s   relay CPU µs each"
    )
    for count in families.values { try measure(UInt64(count)) }
  }

  func validate() throws {
    guard families.values.allSatisfy({ $0 > window }), window >= 1, events >= 1, seconds > 0 else {
      throw ValidationError(
        "--families takes numbers above --window with commas between them, as 1000,100000;"
          + " --window and --events are 1 or more, --seconds is above 0.")
    }
  }

  private func measure(_ count: UInt64) throws {
    let run = try RunFolder("\(directory)/pr-scale-\(getpid())-\(count)")
    defer { run.remove() }
    let folder = run.url
    // Makes the keys that the database needs, and the files.
    let first = try RelayProcess(folder, isPlain: false)
    let address = first.address
    first.stop()
    let start = Monotonic.now()
    try generate(count, address, folder)
    let made = Monotonic.now()
    let relay = try RelayProcess(folder, isPlain: false, maxFamilies: Int(count) + 1)
    defer { relay.stop() }
    var devices = try Devices(RelayAddress.childDevice, address.child, at: address)
    try attach(&devices, [count / 2])
    let ready = Monotonic.now()
    let (memory, cpu) = (relay.memory, relay.cpu)
    try attach(&devices, Array(1...count))
    let touched = relay.cpu - cpu
    let taken = relay.memory - memory
    settle(relay)
    let figures = try approvals(&devices, relay, count)
    print(
      String(
        format: "%8d %10.1f %25.2f %17.1f %16.0f %13.0f %19.1f", count, Double(made - start) / 1e9,
        Double(ready - made) / 1e9, touched / Double(count) * 1e6,
        Double(taken) / Double(count), figures.rate, figures.cpu))
  }

  /// Waits until the relay has written down where all those devices are: that is no part of an approval.
  private func settle(_ relay: RelayProcess) {
    var last = -1.0
    // Longer than where devices are waits for being written.
    sleep(12)
    while relay.cpu > last + 0.01 {
      last = relay.cpu
      usleep(500_000)
    }
  }

  /// Fills the store as a relay would have: a roster, then questions and answers.
  private func generate(_ count: UInt64, _ address: RelayAddress, _ folder: URL) throws {
    let store = try SQLiteEventStore(path: folder.appendingPathComponent("relay.sqlite").path)
    defer { store.close() }
    // One person has both keys here, so that one connection can play both sides.
    var roster = address.roster
    roster.devices[0].publicKey = address.child.publicKey.bytes
    let content = Content.sealed(Array(repeating: 7, count: 230))
    let conversation = Audience.conversation(RelayAddress.child)
    let now = Int64(Date().timeIntervalSince1970 * 1_000) - 1_000_000
    var ids = IDSource(seed: 1)
    var batch = Batch()
    var questions = [QuestionID](repeating: QuestionID(high: 0, low: 0), count: Int(count) + 1)
    // In the order in which they would have come: all families, event after event.
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
            family: FamilyID(family), seq: seq, audience: audience, command: event.command, at: at,
            payload: event.encode()))
        if seq == events {
          for device in [RelayAddress.guardianDevice, RelayAddress.childDevice] {
            // All of it: whoever lags is sent it again and again, which is no part of an approval.
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
      while sent < families.count, sent - done < 1_000 {
        // It has everything: what is late would be published again.
        try devices.send(
          .attach([
            Cursor(.family, delivered: 1),
            Cursor(.conversation(RelayAddress.child), delivered: events),
          ]), in: families[sent])
        sent += 1
      }
      guard try devices.requests.waitUntilReadable(milliseconds: Devices.timeout) else {
        throw RelayGone()
      }
      while let reply = try devices.nextReply() {
        guard case .attached = reply.reply else { throw Refused(reply: reply.reply) }
        done += 1
      }
    }
  }

  /// Approvals of random families, told by replies: a million subscriptions would measure libzmq.
  private func approvals(_ devices: inout Devices, _ relay: RelayProcess, _ count: UInt64) throws
    -> (rate: Double, cpu: Double)
  {
    let conversation = Audience.conversation(RelayAddress.child)
    let content = Content.sealed(Array(repeating: 7, count: 230))
    var asked: [UInt64: QuestionID] = [:]
    var source = IDSource(seed: 3)
    var done = 0
    func run(until end: UInt64) throws {
      while Monotonic.now() < end || !asked.isEmpty {
        while asked.count < window, Monotonic.now() < end {
          let family = source.next() % count + 1
          guard asked[family] == nil else { continue }
          let id = devices.newID()
          asked[family] = id
          try devices.send(devices.signed(.ask(header(id), content)), in: family)
        }
        guard try devices.requests.waitUntilReadable(milliseconds: Devices.timeout) else {
          throw RelayGone()
        }
        while let reply = try devices.nextReply() {
          guard case .accepted(_, let seq) = reply.reply else { throw Refused(reply: reply.reply) }
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
    try run(until: Monotonic.now() + 2_000_000_000)
    let (cpu, start, before) = (relay.cpu, Monotonic.now(), done)
    try run(until: start + UInt64(seconds * 1e9))
    let took = Double(Monotonic.now() - start) / 1e9
    let approvals = Double(done - before)
    return (approvals / took, (relay.cpu - cpu) / approvals * 1e6)
  }
}
