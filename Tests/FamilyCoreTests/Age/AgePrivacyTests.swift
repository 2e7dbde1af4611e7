@testable import FamilyCore
import FamilyModel
import RelayWire
import Testing

/// Every frame and every row that parties other than Emily and her guardians can obtain.
private struct Outside: Hashable {
  var frames: [[UInt8]] = []
  var rows: [[UInt8]] = []
  var all: [[UInt8]] { frames + rows }

  init(_ world: World) {
    let account = Audience.account(World.emily)
    for (audience, broadcast) in world.broadcasts where audience != account {
      frames.append(broadcast.encode())
    }
    // Ben is an adult of the family. Devices 3 and 4 are Emily's, 1 and 2 her guardians'.
    for (device, id, reply) in world.replies where device == 5 {
      let address = world.address(device)
      frames.append(ReplyEnvelope(device: address, requestID: id, reply: reply).encode())
    }
    for device: UInt32 in [3, 4, 5] {
      for case .app(_, let reply) in world.seen[device] ?? [] { frames.append(reply.encode()) }
    }
    for event in world.log where event.audience != account { rows.append(event.encode()) }
    rows += (world.disks[5] ?? [:]).values.map { $0.key.bytes + $0.value }
      .sorted { $0.lexicographicallyPrecedes($1) }
    var app = AppMachine(World.app)
    for device: UInt32 in [3, 4] {
      for case .app(World.app, let reply) in world.seen[device] ?? [] {
        for case .persist(let changes) in app.step(.reply(reply)) {
          for case .put(let record) in changes { rows.append(record.key + record.value) }
        }
      }
    }
  }

  /// The birthdate in the wire's encoding and as text.
  func contains(_ day: Account.Day) -> Bool {
    let account = Content.account(
      Account(birthdate: day, region: "", declaration: .selfDeclared))
    let event = Event(
      seq: 0, previous: 0, audience: .family, command: ID128(high: 0, low: 0),
      device: DeviceID(0), at: Instant(milliseconds: 0), body: .accountChanged(PersonID(0), account)
    ).encode()
    // In the event: the year in two bytes, the month and the day, each with its tag.
    let start = event.firstRange(of: [0x08, UInt8(day.year & 0x7F | 0x80)])!.lowerBound
    let written = Array(event[start..<start + 7])
    let texts = ["\(day.year)-0\(day.month)-\(day.day)", "\(day.day).\(day.month).\(day.year)"]
    return all.contains { bytes in
      bytes.contains(written) || texts.contains { bytes.contains(Array($0.utf8)) }
    }
  }
}

/// A year with an app: prompts, settings, other gates, other devices, birthdays and anniversaries.
private func year(_ born: Account.Day, gates: [[Int32]] = [[13, 16], [18], [13, 16, 18]]) -> World {
  var world = World.withAccount(
    Account(birthdate: born, region: "US", declaration: .guardianDeclared))
  world.child(5, .app(World.app, .attach(app: World.app, applied: 0)))
  var number: UInt64 = 0
  for (days, device) in [(0, 3), (40, 4), (170, 3), (364, 4)] as [(Int, UInt32)] {
    world.now = World.november + .days(days)
    world.wait(.milliseconds(100))
    for gates in gates {
      number += 1
      world.askAge(number, gates, on: device)
      if world.ageReply(number, on: device) == nil { world.answerPrompt(.share, on: device) }
    }
    world.askAge(number + 100, nil, on: device)
  }
  world.guardian(1, .changeContact(child: World.emily, Handle("ada", .custom), known: true))
  world.guardian(2, .setAge(World.emily, World.settings(.always)))
  world.disconnect(5)
  world.connect(5)
  return world
}

@Suite struct AgePrivacyTests {
  @Test("D3: no frame or row that others or an app can obtain contains the birthdate")
  func noBirthdate() {
    let born = day(2012, 5, 17)
    let outside = Outside(year(born))
    // The search covers some frames and rows of each kind.
    #expect(outside.frames.count > 20)
    #expect(outside.rows.count > 3)
    #expect(!outside.contains(born))
  }

  @Test(
    "D3, D8: no bit that others or an app obtain depends on the birthday or the exact age")
  func sameForAll() {
    // Ages from just 13 to the last day of 15 are in one range on the day of the first answer.
    let expected = Outside(year(day(2012, 5, 17)))
    for born in [
      day(2013, 11, 21), day(2013, 11, 20), day(2012, 11, 22), day(2012, 2, 29), day(2011, 5, 17),
      day(2010, 11, 22),
    ] {
      #expect(Outside(year(born)) == expected, "\(born)")
    }
    // The comparison detects an age in another range.
    #expect(Outside(year(day(2010, 11, 21))) != expected)
  }

  @Test("the search finds a birthdate where there is one") func canFail() {
    let born = day(2012, 5, 17)
    var world = year(born)
    let account = Content.account(
      Account(birthdate: born, region: "US", declaration: .selfDeclared))
    let leak = Event(
      seq: 99, previous: 0, audience: .family, command: ID128(high: 1, low: 1),
      device: DeviceID(0), at: world.now, body: .posted(child: World.emily, account))
    world.broadcasts.append((.family, .event(leak)))
    #expect(Outside(world).contains(born))
  }

  @Test("D3: the relay serves an account only to its readers and refuses others") func refused() {
    var world = year(day(2012, 5, 17))
    for audience in [Audience.account(World.emily), .conversation(World.emily)] {
      let key = [UInt8](repeating: 5, count: 32)
      let effects = world.relay.step(
        .request(
          world.address(5), key: key, administrator: false, id: 1, .fetch(audience, after: 0)),
        now: world.now)
      #expect(effects == [.reply(world.address(5), id: 1, .failed(.notPermitted))])
    }
  }
}
