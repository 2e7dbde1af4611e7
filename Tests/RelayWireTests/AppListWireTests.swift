import FamilyModel
import Testing

@testable import RelayWire

/// Lists of apps from a foreign process.
@Suite struct AppListWireTests {
  private func decode(_ apps: [ListedApp]) throws -> Content {
    try Content.sealed(Content.apps(apps).bytes).opened()
  }

  @Test("D13: accepts the largest list, and rejects more apps") func count() throws {
    let apps = (0...Limits.listedApps).map { number in
      ListedApp(
        app: AppID(String(repeating: "a", count: 120) + "\(10_000 + number)"),
        name: String(repeating: "n", count: Limits.titleBytes), rating: .nine)
    }
    let most = Array(apps.dropLast())
    #expect(try decode(most) == .apps(most))
    #expect(Content.apps(most).bytes.count < Limits.contentBytes / 8)
    #expect(throws: Problem.tooLarge) { try decode(apps) }
  }

  @Test("D13: rejects long texts, and an app without an identifier") func texts() {
    for app in [
      ListedApp(app: AppID("")), ListedApp(app: AppID(String(repeating: "a", count: 129))),
      ListedApp(app: AppID("a"), name: String(repeating: "n", count: Limits.titleBytes + 1)),
    ] {
      #expect(throws: Problem.tooLarge) { try decode([app]) }
    }
  }

  @Test("D13: rejects a repeated app, and an unknown rating") func values() throws {
    let app = ListedApp(app: AppID("a"), rating: .nine)
    #expect(throws: Problem.malformed) { try decode([app, app]) }
    var message = PBContent()
    message.appList.apps = [
      .with {
        $0.app = "a"; $0.rating = 10
      }
    ]
    #expect(throws: Problem.malformed) { try Content.sealed(Wire.encode(message)).opened() }
  }
}
