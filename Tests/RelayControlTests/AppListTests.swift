import FamilyModel
import Foundation
import Testing

/// The apps on the children's devices.
@Suite struct AppListTests {
  @Test(
    "D13: a guardian lists the apps of a child, with names, ratings and the ceiling",
    .timeLimit(.minutes(10)))
  func apps() async throws {
    try await RelayControlFixture.with { fixture in
      let rosa = fixture.file("Rosa")
      let none = try await fixture.must("apps", "--as", rosa).output
      #expect(none == "No device of a child has reported an app yet.\n")
      let landmarks = AppID("example.landmarks")
      try fixture.report([
        ListedApp(
          app: landmarks, name: "Land\u{1B}[31m marks\u{202E}", rating: .thirteen,
          frameworks: [.permissions, .ageRanges]),
        ListedApp(app: AppID("example.other")),
      ])
      try await fixture.must("ceiling", "9", "--as", rosa)
      let table = try await fixture.must("apps", "--child", "Emily", "--as", rosa)
      #expect(table.output.contains("13+") && table.output.contains("above"))
      #expect(table.output.contains("PermissionKit, DeclaredAgeRange"))
      #expect(table.output.contains("not rated"))
      #expect(!table.output.contains("\u{1B}") && !table.output.contains("\u{202E}"))

      let rows = try await fixture.must("apps", "--as", rosa, "--json").objects
      #expect(rows.map { $0["app"] as? String } == ["example.landmarks", "example.other"])
      #expect(rows.map { $0["rating"] as? Int } == [13, nil])
      #expect(rows.map { $0["aboveCeiling"] as? Bool } == [true, true])
      #expect(rows.map { $0["device"] as? Int } == [3, 3])
      #expect(rows[0]["frameworks"] as? [String] == ["PermissionKit", "DeclaredAgeRange"])
      #expect(rows[1]["name"] is NSNull && rows[0]["since"] is String)
      try await fixture.must("ceiling", "off", "--as", rosa)
      let open = try await fixture.must("apps", "--as", rosa, "--json").objects
      #expect(open.map { $0["aboveCeiling"] as? Bool } == [false, false])
    }
  }

  @Test("D13: lists of questions name the app and its identifier", .timeLimit(.minutes(10)))
  func names() async throws {
    try await RelayControlFixture.with { fixture in
      let rosa = fixture.file("Rosa")
      try fixture.report([
        ListedApp(app: AppID("example.landmarks"), name: "Landmarks", rating: .nine)
      ])
      try fixture.ask(Handle("ada", .custom))
      for command in ["pending", "history"] {
        let table = try await fixture.must(command, "--as", rosa).output
        #expect(table.contains("Landmarks (example.landmarks)"))
      }
      let row = try await fixture.must("pending", "--as", rosa, "--json").objects[0]
      #expect(row["app"] as? String == "example.landmarks")
      #expect((row["text"] as? String)?.contains("in Landmarks (example.landmarks).") ?? false)
      try fixture.report([])
      let table = try await fixture.must("pending", "--as", rosa).output
      #expect(!table.contains("Landmarks ("))
    }
  }
}
