import Credentials
import FamilyModel
import Foundation
import History
import RelayClient

extension Nemesis {
  /// Replaces the relay's store by a copy of some seconds before.
  ///
  /// A guardian of each family posts texts in between. The relay loses them, and the guardian's
  /// device has to give them back if it has read them.
  func restoreCopy(_ fault: Fault) async throws -> [String] {
    let (name, folder) = ("relay.sqlite", chaosCluster.layout.relay)
    let copies = try makeFolder("copy-\(fault.seed)")
    defer { try? FileManager.default.removeItem(at: copies) }
    try await fileAccess.run {
      try await self.whileDead(["relay"]) { try Damage.replace(name, in: copies, by: folder) }
    }
    let end = recorder.now + fault.lasts
    var posted: [(text: GivenBack.Text, seq: UInt64)] = []
    while recorder.now < end, !Task.isCancelled {
      posted += await postTexts()
      try? await Task.sleep(for: .milliseconds(300))
    }
    let texts = posted
    try await fileAccess.run {
      try await self.whileDead(["relay"]) {
        // Another power loss or a full disk may have kept a device from reading its text.
        var read: [GivenBack.Text] = []
        await self.observer.readNewLines()
        for (text, seq) in texts
        where await self.observer.devices(of: [text.author], with: seq) == [text.author] {
          read.append(text)
        }
        self.log.addLost(read)
        try Damage.replace(name, in: folder, by: copies)
        try self.chaosCluster.power["relay"]!.markSynced()
        await self.observer.beginHistory()
        if self.chaosCluster.mutant == .noGivingBack { try await self.removeAgentStores() }
      }
    }
    return ["relay"]
  }

  /// Creates a folder for copies of files.
  func makeFolder(_ name: String) throws -> URL {
    let folder = chaosCluster.layout.root.appendingPathComponent("chaos/\(name)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    return folder
  }

  /// Posts a text of a guardian in each family, without the proxies.
  private func postTexts() async -> [(text: GivenBack.Text, seq: UInt64)] {
    let members = Dictionary(grouping: devices.map(\.credential), by: \.address.family)
    var posted: [(text: GivenBack.Text, seq: UInt64)] = []
    for family in members.keys.sorted() {
      guard var guardian = members[family]!.first(where: \.role.isGuardian),
        let child = members[family]!.first(where: { $0.role == .child })
      else { continue }
      guardian.requests = chaosCluster.requests
      let (credential, recorder) = (guardian, recorder)
      let sent = try? await blocking {
        var client = try DeviceClient(credential)
        let sent = try client.send(.post(child: child.personID, .text("text before a copy")))
        recorder.record(.acknowledged(credential.address, sent.id, seq: sent.seq))
        return sent
      }
      if let sent {
        posted.append((GivenBack.Text(author: credential.address, command: sent.id), sent.seq))
      }
    }
    return posted
  }

  private func removeAgentStores() async throws {
    let names = Set(devices.map(\.agent)).sorted()
    try await whileDead(names) {
      for name in names { try Damage.remove(chaosCluster.layout.agent(name), "agent.sqlite") }
    }
  }
}
