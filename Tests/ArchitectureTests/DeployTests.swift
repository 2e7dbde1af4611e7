import Foundation
import Testing

/// Compares what `deploy` installs and starts with what the package builds. `deploy/check` starts it for real.
@Suite struct DeployTests {
  private func text(_ path: String) throws -> String {
    try String(contentsOf: Repository.root.appendingPathComponent(path), encoding: .utf8)
  }

  private func units() throws -> [Repository.File] {
    try Repository.files(below: "deploy/systemd", ["service"])
  }

  /// The shipped programs: the folders of `Sources/Programs` with a `main`.
  private func programs() throws -> Set<String> {
    Set(
      try Repository.files(below: "Sources/Programs")
        .filter { $0.text.contains("\n@main\n") }.map(\.module))
  }

  private func words(after prefix: String, in text: String) -> [[String]] {
    text.split(separator: "\n").filter { $0.hasPrefix(prefix) }
      .map { $0.dropFirst(prefix.count).split { " \"'".contains($0) }.map(String.init) }
  }

  @Test("O10: the Debian package has each shipped program")
  func package() throws {
    let names = words(after: "names=", in: try text("deploy/debian/build"))
    #expect(names.count == 1)
    #expect(Set(names.first ?? []) == (try programs()))
  }

  @Test("O10: each unit starts a shipped program, is hardened and documented")
  func starts() throws {
    let (units, programs) = (try units(), try programs())
    #expect(units.count == 7)
    let operations = try text("docs/Operations.md")
    for unit in units {
      let started = words(after: "ExecStart=", in: unit.text).flatMap { $0 }
        .filter { $0.hasPrefix("/usr/bin/") }.map { String($0.dropFirst("/usr/bin/".count)) }
      #expect(!started.isEmpty && programs.isSuperset(of: started), "\(unit.path): \(started)")
      var lines = ["NoNewPrivileges=yes", "Restart="]
      // Apps inherit the limits of a child's agent.
      if !started.contains("child-agent") { lines.append("SystemCallFilter=") }
      for line in lines {
        #expect(unit.text.contains("\n\(line)"), "\(unit.path) lacks \(line)")
      }
      for program in started {
        #expect(operations.contains("`\(program)"), "docs/Operations.md lacks \(program)")
      }
    }
  }

  @Test("O10: the check of deploy runs with the tests, and runs each of its parts")
  func checked() throws {
    #expect(try text("tools/test").contains("deploy/check"))
    let check = try text("deploy/check")
    let parts = try FileManager.default.contentsOfDirectory(
      atPath: Repository.root.appendingPathComponent("deploy/checks").path)
    #expect(parts.count >= 8)
    for part in parts {
      let isUsed =
        try check.contains("checks/\(part)")
        || parts.contains { other in
          try other != part && text("deploy/checks/\(other)").contains(part)
        }
      #expect(isUsed, "deploy/checks/\(part)")
    }
  }
}
