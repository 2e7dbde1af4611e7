import FamilyModel
import FamilyTrust
import Testing

@testable import FamilyCore

/// Commands with ids far ahead of the relay's clock.
@Suite struct EarlyCommandTests {
  private static let latest = Instant(milliseconds: Limits.times.upperBound)

  private func id(_ time: Instant, _ low: UInt64 = 5) -> CommandID {
    CommandID(high: UInt64(time.milliseconds) << 16, low: low)
  }

  @Test("T2: the relay refuses an id more than ten minutes ahead, and states its time")
  func refused() {
    var home = SignedFamily()
    func share(_ id: CommandID, _ home: inout SignedFamily) -> Problem? {
      let wraps = [
        KeyWrap(
          key: ContentKeyID(high: 1, low: 1), reader: home.keys[1]!.agreementKey, bytes: [1])
      ]
      let signature = home.sign(.keysShared(wraps), id, .family, as: 3)
      return home.request(3, 1, .command(id, .shareKeys(.family, wraps), signature))
    }
    let (now, log) = (home.now, home.log.count)
    for time in [now + Limits.idLead + .milliseconds(1), now + .days(1), Self.latest] {
      #expect(share(id(time), &home) == .earlyID(relayTime: now))
      #expect(share(CommandID(high: .max, low: .max), &home) == .earlyID(relayTime: now))
    }
    #expect(home.log.count == log)
    #expect(share(id(now + Limits.idLead), &home) == nil)
  }

  @Test("T2: a withdrawal counts although the relay once stated a time in the past")
  func pastTime() {
    var home = SignedFamily()
    home.answer(home.ask("ada"), "approve", by: 2)
    #expect(home.known() == ["ada"])
    home.guardian(1, .reply(0, .attached([], at: home.now - .days(1_800))))
    home.guardian(1, .withdraw(child: SignedFamily.emily, .handle(Handle("ada", .custom), in: nil)))
    home.wait(.seconds(5))
    #expect(home.known() == [] && home.known(4) == [])
    #expect(!home.children[3]!.knownHandles(in: SignedFamily.app).contains(Handle("ada", .custom)))
  }

  /// A family whose log has a command of the device with the latest possible time: the log of an
  /// earlier relay, or of a relay that helps the sender.
  private func attacked(by device: UInt32, at time: Instant?) -> SignedFamily {
    var home = SignedFamily()
    let isChild = device == 3
    let (body, audience): (Event.Body, Audience) =
      isChild
      ? (.keysShared([]), .family)
      : (.limitsChanged(child: SignedFamily.emily, on: true), .conversation(SignedFamily.emily))
    let id = id(Self.latest)
    var event = home.forged(
      body, in: audience, by: device, id: id,
      signature: home.sign(body, id, audience, as: device))
    if let time { event.at = time }
    home.storeUnchecked(event)
    return home
  }

  @Test(
    "T2: a command far ahead in the log stops no later command, on devices and in apps",
    arguments: [3, 2], [nil, latest])
  func silenced(by device: UInt32, at time: Instant?) {
    var home = attacked(by: device, at: time)
    #expect(home.problems[1] == (time == nil ? [.earlyID()] : nil))
    home.problems = [:]
    for isRestarted in [false, true] {
      if isRestarted {
        for device: UInt32 in [1, 2, 4] {
          home.restore(device)
          home.connect(device)
        }
        home.problems = [:]
      }
      let name = isRestarted ? "ben" : "ada"
      let question = home.ask(name)
      home.answer(question, "approve", by: isRestarted ? 1 : 2)
      home.wait(.seconds(5))
      #expect(home.known().contains(name) && home.known(4).contains(name))
      home.guardian(
        1, .withdraw(child: SignedFamily.emily, .handle(Handle(name, .custom), in: nil)))
      home.wait(.seconds(5))
      #expect(home.known() == [] && home.known(4) == [])
    }
    #expect(home.change { $0.devices.removeAll { $0.id == DeviceID(4) } } == nil)
    #expect(home.guardians[2]!.link.roster.device(DeviceID(4)) == nil)
    #expect(home.problems == [:] && home.appProblems == [:])
  }
}
