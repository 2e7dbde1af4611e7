import Foundation

/// An app on the children's devices of a cluster.
package struct ClusterApp: Sendable, Equatable {
  package var identifier: String
  /// The path of the program that devices launch.
  package var program: String
  /// The path of the manifest; `nil`: none.
  package var manifest: String?

  package init(_ identifier: String, program: String, manifest: String? = nil) {
    self.identifier = identifier
    self.program = program
    self.manifest = manifest
  }

  /// Landmarks, the example app.
  package static let landmarks = ClusterApp(
    "example.landmarks", program: Layout.program("app-agent"),
    manifest: Layout.program("permission-relay_app-agent.resources") + "/manifest.json")

  /// Parses options such as `my.chat=PROGRAM` and `my.chat=FILE`.
  ///
  /// - Throws: `ClusterError` for another form, a program that cannot be run, or a manifest without
  ///   its app.
  package static func parse(apps: [String], manifests: [String]) throws -> [ClusterApp] {
    func pair(_ text: String, _ form: String) throws -> (String, String) {
      let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
      guard parts.count == 2 else { throw ClusterError("\(form), not '\(text)'.") }
      return (parts[0], URL(fileURLWithPath: parts[1]).path)
    }
    var found = try apps.map { text in
      let (identifier, program) = try pair(text, "--app takes IDENTIFIER=PROGRAM")
      guard FileManager.default.isExecutableFile(atPath: program) else {
        throw ClusterError(
          "--app: '\(program)' is not an executable program. Build it, or correct the path.")
      }
      return ClusterApp(identifier, program: program)
    }
    for text in manifests {
      let (identifier, file) = try pair(text, "--manifest takes IDENTIFIER=FILE")
      guard let index = found.firstIndex(where: { $0.identifier == identifier }) else {
        throw ClusterError("--manifest names the app '\(identifier)', and no --app does.")
      }
      found[index].manifest = file
    }
    return found
  }
}
