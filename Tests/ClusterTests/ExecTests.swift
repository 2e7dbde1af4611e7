import Foundation
import ProcessCluster
import Subprocess
import SystemPackage
import Testing

/// A family of one's own around one's own app.
@Suite(.serialized, .timeLimit(.minutes(10))) struct ExecTests {
  private func run(_ arguments: [String]) async throws -> (code: Int32?, text: String) {
    let result = try await Subprocess.run(
      .path(FilePath(Layout.program("cluster"))), arguments: Arguments(arguments),
      output: .string(limit: 1 << 20), error: .string(limit: 1 << 20))
    let text = result.standardOutput + result.standardError
    if case .exited(let code) = result.terminationStatus { return (code, text) }
    return (nil, text)
  }

  private func inFolder(_ body: (String) async throws -> Void) async throws {
    let folder = "/tmp/pr-\(UUID().uuidString.prefix(8))"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try await body(folder)
  }

  private func family(_ key: String, in folder: String) throws -> String {
    let file = folder + "/family.yaml"
    try """
    families:
      - id: 7
        members:
          - {name: Nora, role: organizer}
          - {name: Mia, role: child, \(key): 2014-05-17}
    """.write(toFile: file, atomically: true, encoding: .utf8)
    return file
  }

  @Test(
    "X1: a command runs beside a family file's devices with one's own app, and sets the exit code")
  func exec() async throws {
    try await inFolder { folder in
      let file = try family("birthdate", in: folder)
      let app = "my.chat=\(Layout.program("app-agent"))"
      let command = """
        case "$PERMISSION_RELAY_DEVICE" in *app-7-2-my.chat.json) ;; *) exit 1;; esac
        '\(Layout.program("app-agent"))' ask --handle ada || exit 2
        exit 7
        """
      let said = try await run(
        [
          "exec", "--directory", folder + "/c", "--app", app, "--family", file, "--answer",
          "approve",
        ]
          + ["--", "sh", "-c", command])
      #expect(said.code == 7, "\(said.text)")
      #expect(said.text.contains("asked: "))
    }
  }

  @Test("cluster reports a wrong family file and a wrong app before it starts anything")
  func wrong() async throws {
    try await inFolder { folder in
      let file = try family("birthday", in: folder)
      let common = ["exec", "--directory", folder + "/c"]
      let said = try await run(common + ["--family", file, "--", "true"])
      #expect(said.code == 1 && said.text.contains("Did you mean 'birthdate'?"), "\(said.text)")
      for (arguments, words) in [
        (["--app", "my.chat"], "--app takes IDENTIFIER=PROGRAM"),
        (["--app", "my.chat=/nowhere"], "is not an executable program"),
        (["--app", "my.chat=/bin/true", "--manifest", "mychat=x"], "no --app does"),
      ] {
        let said = try await run(common + arguments + ["--", "true"])
        #expect(said.code == 1 && said.text.contains(words), "\(said.text)")
      }
      let none = try await run(common)
      #expect(none.code == 64 && none.text.contains("Give a command after --"))
      #expect(!FileManager.default.fileExists(atPath: folder + "/c/relay"))
    }
  }
}
