import Foundation
import Testing

/// The code of the tutorials is compiled and run here: the catalogues hold copies of `Tutorials/`.
@Suite struct TutorialTests {
  @Test(
    "X1: each tutorial shows the code that this target compiles",
    arguments: ["PermissionKit", "DeclaredAgeRange", "PermissionKitTesting"])
  func copies(_ module: String) throws {
    let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    let resources = tests.appendingPathComponent(
      "../../Sources/App/\(module)/\(module).docc/Resources")
    let files = try FileManager.default.contentsOfDirectory(
      at: resources, includingPropertiesForKeys: nil
    ).filter { $0.pathExtension == "swift" }
    #expect(!files.isEmpty)
    for file in files {
      let compiled = tests.appendingPathComponent("Tutorials/\(file.lastPathComponent)")
      #expect(
        try String(contentsOf: file, encoding: .utf8)
          == (try String(contentsOf: compiled, encoding: .utf8)),
        "copy \(compiled.lastPathComponent) to \(module).docc/Resources")
    }
  }
}
