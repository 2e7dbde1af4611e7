package import ArgumentParser
import Foundation

/// The options of all commands.
package struct ClusterOptions: ParsableArguments {
  @Option(help: "The folder for the cluster's files.")
  package var directory = "/tmp/permission-relay"

  package init() {}
}

/// The options that run a family of one's own around one's own app.
package struct FamilyOptions: ParsableArguments {
  @Option(
    name: .customLong("app"),
    help: "An app on the children's devices, as IDENTIFIER=PROGRAM (default: the example app).")
  package var apps: [String] = []
  @Option(name: .customLong("manifest"), help: "An app's manifest, as IDENTIFIER=FILE.")
  package var manifests: [String] = []
  @Option(help: "A family file in YAML or JSON (default: example families).")
  package var family: String?
  @Option(help: "The guardians' answer to every question: a choice's id (default: no answer).")
  package var answer: String?

  package init() {}

  /// A cluster that has not started yet.
  ///
  /// - Throws: `ClusterError` for wrong options, a wrong family file, or missing programs.
  ///
  /// - Parameter configure: Adds to the configuration.
  package func cluster(
    in directory: String, families count: Int,
    configure: (inout RunningCluster.Configuration, ClusterFamilies) async throws -> Void = {
      _, _ in
    }
  ) async throws -> RunningCluster {
    try Layout.checkPrograms()
    var configuration = RunningCluster.Configuration()
    if !apps.isEmpty || !manifests.isEmpty {
      configuration.apps = try ClusterApp.parse(apps: apps, manifests: manifests)
    }
    configuration.answer = answer
    var families = ClusterFamilies.example(count)
    if let family {
      configuration.familyFile = family
      families = try await ClusterFamilies.read(family)
    }
    try await configure(&configuration, families)
    return try RunningCluster(Layout(directory), families, configuration)
  }
}
