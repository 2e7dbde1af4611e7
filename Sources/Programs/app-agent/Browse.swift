import ArgumentParser
import FamilyControls
import Foundation
import ManagedSettings
import ScreenTime

/// The page about a place.
struct Browse: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Show a web page if the guardians' rules open it, or ask the guardians to open it.")
  @Argument(help: "The page's address.", transform: Self.page) var url: URL
  @Option(help: "Seconds for which the page is shown.") var seconds = 0.0
  @Flag(help: "Ask for a page whose rule makes the child ask.") var asks = false

  private static func page(_ text: String) throws -> URL {
    guard let url = URL(string: text), url.host != nil else {
      throw ValidationError("An address is like https://www.example.com/.")
    }
    return url
  }

  func run() async throws {
    let page = STWebpageController()
    page.url = url
    guard await page.isBlocked() else {
      print("the page is open")
      try await Task.sleep(for: .seconds(seconds))
      page.url = nil
      // The device learns the time.
      return try await Task.sleep(for: .milliseconds(500))
    }
    guard page.hasAnswer else { return print("the page is blocked until the device answers") }
    guard page.canAsk else { return print("the page is blocked") }
    guard asks else { return print("the page is blocked, and Emily can ask for it") }
    print(try await page.ask(in: Window.places) ? "asked for the page" : "cancelled")
  }
}

/// The restrictions that Landmarks makes as an app for parental controls.
struct Manage: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Ask to manage the child, and block a site.")
  @Argument(help: "The site to block, such as example.com.") var site: String

  func run() async throws {
    try await AuthorizationCenter.shared.requestAuthorization(for: .child)
    let store = ManagedSettingsStore()
    store.webContent.blockedByFilter = .specific([WebDomain(domain: site)])
    try await store.untilEnforced()
    print("the device blocks \(site)")
  }
}
