import FamilyControls
import Foundation
import ManagedSettings
import PermissionKit
import PermissionKitTesting
import ScreenTime
import Testing

private let center = AuthorizationCenter.shared

private struct Chat: PresentationAnchor { let windowName = "Chat" }

/// Waits until the app's authorization has the state.
private func wait(until status: AuthorizationStatus) async {
  for await value in await center.authorizationStatusUpdates where value == status { return }
}

private func page(_ url: String) -> STWebpageController {
  let page = STWebpageController()
  page.url = URL(string: url)
  return page
}

@Suite(.timeLimit(.minutes(10))) struct ManagingTests {
  private let family = TestFamily()

  @Test("S3, X1: a guardian authorizes an app, and withdraws the authorization")
  func authorizes() async throws {
    family.organizer.will(.approve)
    try await family.app {
      #expect(center.authorizationStatus == .notDetermined)
      try await center.requestAuthorization(for: .child)
      #expect(center.authorizationStatus == .approved)
      // An authorized app does not ask again.
      try await center.requestAuthorization(for: .child)
      await family.organizer.withdrawAuthorization()
      await wait(until: .denied)
      family.organizer.will(.approve)
      try await center.requestAuthorization(for: .child)
      #expect(center.authorizationStatus == .approved)
    }
    #expect(family.unhandled == 0)
  }

  @Test("S3: a declined or cancelled question authorizes nothing, nor does an individual's")
  func declined() async throws {
    family.organizer.will(.decline)
    try await family.app {
      await #expect(throws: FamilyControlsError.authorizationCanceled) {
        try await center.requestAuthorization(for: .child)
      }
      #expect(center.authorizationStatus == .denied)
      family.child.will(.cancel)
      await #expect(throws: FamilyControlsError.authorizationCanceled) {
        try await center.requestAuthorization(for: .child)
      }
      await #expect(throws: FamilyControlsError.invalidAccountType) {
        try await center.requestAuthorization(for: .individual)
      }
    }
  }

  @Test("S3: an adult's device authorizes no app")
  func adult() async throws {
    try await TestFamily(isChild: false).app {
      await #expect(throws: FamilyControlsError.invalidAccountType) {
        try await center.requestAuthorization(for: .child)
      }
    }
  }

  @Test("S3: stores restrict the web and people until the authorization ends, across restarts")
  func stores() async throws {
    family.organizer.will(.approve)
    let store = ManagedSettingsStore(named: "homework")
    try await family.app {
      let error = await #expect(throws: DeviceProblem.self) {
        store.communication.denyNewPeople = true
        try await store.untilEnforced()
      }
      #expect(error?.number == 451)
      #expect(store.communication.denyNewPeople == nil)
      try await center.requestAuthorization(for: .child)
      store.webContent.blockedByFilter = .specific([WebDomain(domain: "www.games.example")])
      store.communication.denyNewPeople = true
      #expect(store.communication.denyNewPeople == true)
      try await store.untilEnforced()
      #expect(await page("https://games.example/").isBlocked())
      #expect(await !page("https://other.example/").isBlocked())
      await #expect(throws: AskError.self) { try await askAboutAda() }
    }
    try await family.app {
      #expect(center.authorizationStatus == .approved)
      #expect(
        store.webContent.blockedByFilter == .specific([WebDomain(domain: "games.example")]))
      let games = page("https://games.example/")
      #expect(await games.isBlocked())
      await family.organizer.withdrawAuthorization()
      for await isBlocked in await games.urlIsBlockedUpdates where !isBlocked { break }
      #expect(store.webContent.blockedByFilter == nil)
      try await askAboutAda()
    }
  }

  @Test("S3: an empty store restricts nothing, and apps are named by their identifiers")
  func clears() async throws {
    family.organizer.will(.approve)
    let store = ManagedSettingsStore()
    try await family.app {
      try await center.requestAuthorization(for: .child)
      let games = Application(bundleIdentifier: "com.example.games")
      store.application.blockedApplications = [games]
      store.webContent.blockedByFilter = .all(except: [WebDomain(domain: "school.example")])
      try await store.untilEnforced()
      #expect(store.application.blockedApplications == [games])
      #expect(await page("https://games.example/").isBlocked())
      #expect(await !page("https://school.example/").isBlocked())
      store.clearAllSettings()
      try await store.untilEnforced()
      #expect(store.application.blockedApplications == nil)
      #expect(store.webContent.blockedByFilter == nil)
    }
  }

  private func askAboutAda() async throws {
    family.child.will(.askByMessage)
    let ada = CommunicationHandle(value: "ada", kind: .custom)
    try await CommunicationLimits.current.ask(PermissionQuestion(handle: ada), in: Chat())
  }
}
