import Credentials
import FaultNetwork
import Foundation
import ProcessCluster

/// The devices of the family that the console shows, and the agents that host them.
struct ConsoleFamily: Sendable {
  /// One device.
  struct Device: Encodable, Sendable {
    var key: String
    var name: String
    var role: String
    var process: String
    var person: UInt32
  }

  let number: UInt64
  let devices: [Device]

  /// Reads the credentials of the cluster's first family.
  init(_ layout: Layout) throws {
    let files = try FileManager.default.contentsOfDirectory(
      at: layout.credentials, includingPropertiesForKeys: nil)
    let all = try files.filter { $0.lastPathComponent.hasPrefix("family-") }
      .map { try Credential.read(from: $0) }.sorted { $0.address < $1.address }
    let number = all.first?.address.family.rawValue ?? 1
    self.number = number
    devices = all.filter { $0.address.family.rawValue == number }.map { credential in
      Device(
        key: "\(number)-\(credential.address.device.rawValue)", name: credential.name,
        role: "\(credential.role)", process: Redirection.agent(of: credential),
        person: credential.personID.rawValue)
    }
  }

  /// The agents, guardians last.
  var agents: [String] {
    let names = devices.map(\.process)
    let unique = names.enumerated().filter { names.firstIndex(of: $0.element) == $0.offset }
    let agents = unique.map(\.element)
    return agents.filter { $0.hasPrefix("child") } + agents.filter { !$0.hasPrefix("child") }
  }

  var childAgent: String { agents.first ?? "" }
  var guardians: [String] { agents.filter { $0.hasPrefix("parent") } }

  /// The owner's name of an agent that hosts one person.
  func owner(of agent: String) -> String? {
    let names = Set(devices.filter { $0.process == agent }.map(\.name))
    return names.count == 1 ? names.first : nil
  }

  func devices(of agent: String) -> [String] {
    devices.filter { $0.process == agent }.map(\.key)
  }

  /// The devices with apps: those of children and adults.
  var appDevices: [Device] { devices.filter { $0.process.hasPrefix("child") } }
}
