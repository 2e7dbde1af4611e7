import Foundation

/// Files of the repository that the architecture tests read.
enum Repository {
  static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

  struct File {
    /// The path below the root, for example `Sources/Core/FamilyModel/Event.swift`.
    var path: String
    var text: String

    /// The module, for files below `Sources`: the third component of the path.
    var module: String { path.split(separator: "/").dropFirst(2).first.map(String.init) ?? "" }
  }

  /// All files below the folder with one of the extensions, without generated code.
  static func files(below folder: String, _ extensions: Set<String> = ["swift"]) throws -> [File] {
    let base = root.appendingPathComponent(folder)
    let found = FileManager.default.enumerator(at: base, includingPropertiesForKeys: nil)
    return try (found?.allObjects as? [URL] ?? [])
      .filter { extensions.contains($0.pathExtension) && !$0.path.hasSuffix(".pb.swift") }
      .map { url in
        File(
          path: String(url.path.dropFirst(root.path.count + 1)),
          text: try String(contentsOf: url, encoding: .utf8))
      }
      .sorted { $0.path < $1.path }
  }

  /// All Markdown documents but those that a program wrote.
  static func documents() throws -> [File] {
    let root = try FileManager.default.contentsOfDirectory(atPath: root.path)
      .filter { $0.hasSuffix(".md") }
      .map {
        File(
          path: $0,
          text: try String(contentsOf: self.root.appendingPathComponent($0), encoding: .utf8))
      }
    return try root
      + ["docs", "Sources", "Verification"].flatMap { try files(below: $0, ["md"]) }
      .filter { $0.path != "docs/chaos/report.md" }
  }
}
