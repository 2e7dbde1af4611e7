/// The names of a cluster's agents.
package enum AgentName {
  /// The agent that hosts the devices of a family's children and adults.
  package static func child(of family: UInt64) -> String { "child-agent-\(family)" }

  /// The agent that hosts a guardian's devices.
  package static func guardian(_ name: String, of family: UInt64) -> String {
    "parent-agent-\(family)-\(fileName(name).lowercased())"
  }

  /// A person's name as a part of file names, as in credential files.
  package static func fileName(_ name: String) -> String {
    String(name.map { $0 == "/" ? "_" : $0 }.prefix(48))
  }
}
