package import Credentials
package import Foundation
import ProcessCluster

/// Leads agents to the relay through their own links.
package enum Redirection {
  /// Points the credentials in the folder to the two ports of their agent, by the agent's name.
  package static func redirect(credentialsIn folder: URL, to ports: [String: [Int]]) throws {
    let files = try FileManager.default.contentsOfDirectory(
      at: folder, includingPropertiesForKeys: nil)
    for file in files where file.lastPathComponent.hasPrefix("family-") {
      var credential = try Credential.read(from: file)
      guard let ports = ports[agent(of: credential)] else { continue }
      credential.requests = "tcp://127.0.0.1:\(ports[0])"
      credential.broadcasts = "tcp://127.0.0.1:\(ports[1])"
      try credential.write(to: file)
    }
  }

  /// The name of the agent that hosts the credential's device in a cluster.
  package static func agent(of credential: Credential) -> String {
    let family = credential.address.family.rawValue
    return credential.role.isGuardian
      ? AgentName.guardian(credential.name, of: family) : AgentName.child(of: family)
  }
}
