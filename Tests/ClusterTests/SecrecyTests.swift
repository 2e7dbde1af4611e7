import Foundation
import ProcessCluster
import Subprocess
import SystemPackage
import Testing

/// Tests that runs of real processes leave no personal data and no secrets for others to read.
@Suite(.serialized) struct SecrecyTests {
  /// Handles, names and texts of the demo. The names and birthdates of families.json are added.
  private static let said = [
    "dragonslayer42", "maria", "tomas", "Tomás", "Grandpa", "15550100", "lighthouse", "bridge",
  ]

  @Test(
    "X3: writes no personal data to logs or output, and no secrets to arguments or environments",
    .timeLimit(.minutes(10)))
  func demo() async throws {
    let folder = "/tmp/pr-\(UUID().uuidString.prefix(8))"
    defer { try? FileManager.default.removeItem(atPath: folder) }
    async let run = Subprocess.run(
      .path(FilePath(program("cluster"))), arguments: ["demo", "--directory", folder],
      output: .string(limit: 1 << 20), error: .string(limit: 1 << 20))
    let watch = Task {
      var seen: Set<String> = []
      while !Task.isCancelled {
        seen.formUnion(Self.processes(of: folder))
        try? await Task.sleep(for: .milliseconds(50))
      }
      return seen
    }
    let result = try await run
    watch.cancel()
    let seen = await watch.value
    #expect(result.terminationStatus.isSuccess)
    #expect(result.standardError == "")

    let root = URL(fileURLWithPath: folder)
    let file = try JSONDecoder().decode(
      ClusterFamilies.self, from: Data(contentsOf: root.appendingPathComponent("families.json")))
    let personal = PersonalWords(file, and: Self.said)
    #expect(personal.words.contains("Emily") && personal.words.contains("2014-05-17"))
    let (leaks, logs) = try personal.found(inLogsBelow: root)
    #expect(logs >= 8)
    #expect(leaks == [])

    let secrets = try Self.files(below: root).filter { $0.pathExtension == "json" }
      .flatMap { Self.secrets(in: $0) }
    #expect(secrets.count >= 8)
    // Relay, agents and apps, each with arguments and environment.
    #expect(seen.count >= 8 && seen.contains { $0.contains("PATH=") })
    for text in seen {
      for secret in secrets { #expect(!text.contains(secret)) }
    }
  }

  @Test("finds whole personal words in a text, not parts of longer words") func canFail() throws {
    let personal = PersonalWords(ClusterFamilies.example(1), and: ["maria", "Tomás"])
    func found(_ text: String) -> [String] { personal.found(in: Data(text.utf8)) }
    #expect(found("a question of Emily, maria.") == ["Emily", "maria"])
    #expect(found("Emilys Emily") == ["Emily"] && found("name=Tomás") == ["Tomás"])
    #expect(found("{\"birthdate\":\"2014-05-17\"}") == ["2014-05-17"])
    #expect(found("Emilys Emilyé") == [] && found("") == [])
  }

  @Test("F3: creates all files with owner-only permissions", .timeLimit(.minutes(10)))
  func modes() async throws {
    let folder = "/tmp/pr-\(UUID().uuidString.prefix(8))"
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let result = try await Subprocess.run(
      .path(FilePath(program("cluster"))), arguments: ["demo", "--directory", folder],
      output: .discarded, error: .discarded)
    #expect(result.terminationStatus.isSuccess)
    let files = try Self.files(below: URL(fileURLWithPath: folder))
    #expect(files.count > 30)
    for file in files where file.pathExtension != "ipc" {
      var status = stat()
      #expect(stat(file.path, &status) == 0)
      #expect(status.st_mode & 0o077 == 0, "\(file.path)")
    }
  }

  private func program(_ name: String) -> String {
    URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
      .appendingPathComponent(name).path
  }

  /// The arguments and environment of each process with the folder in its arguments.
  private static func processes(of folder: String) -> [String] {
    let all = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
    return all.filter { Int($0) != nil }.flatMap { process -> [String] in
      let texts = ["cmdline", "environ"].map { name in
        let data = FileManager.default.contents(atPath: "/proc/\(process)/\(name)") ?? Data()
        return String(decoding: data, as: UTF8.self).replacingOccurrences(of: "\0", with: "\n")
      }
      return texts[0].contains(folder) ? texts : []
    }
  }

  private static func files(below folder: URL) throws -> [URL] {
    let found = FileManager.default.enumerator(
      at: folder, includingPropertiesForKeys: [.isDirectoryKey])
    return try (found?.allObjects as? [URL] ?? []).filter {
      try $0.resourceValues(forKeys: [.isDirectoryKey]).isDirectory == false
    }
  }

  /// The values of a JSON file whose keys contain `secret`.
  private static func secrets(in file: URL) -> [String] {
    let object = (try? Data(contentsOf: file)).flatMap {
      try? JSONSerialization.jsonObject(with: $0) as? [String: Any]
    }
    return (object ?? [:]).filter { $0.key.lowercased().contains("secret") }
      .compactMap { $0.value as? String }
  }
}
