import AppClient
import DeviceConnection
import FamilyModel

/// Settings by which an authorized app restricts the child on this device.
///
/// ```swift
/// let store = ManagedSettingsStore(named: "homework")
/// store.webContent.blockedByFilter = .specific([WebDomain(domain: "games.example")])
/// store.application.blockedApplications = [Application(bundleIdentifier: "com.example.games")]
/// ```
///
/// The device keeps the settings and enforces them against every app, also while the app does not run.
/// A restriction of any store of any authorized app counts. Settings hold on this device only, as in
/// Apple's API. Without an authorization a change has no effect, and the end of the authorization
/// empties all stores.
///
/// An object has no state of its own: objects with the same name are the same store. Objects may be used
/// from any task at the same time.
public final class ManagedSettingsStore: Sendable {
  /// The name of a store.
  public struct Name: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral {
    /// The name, 1 to 128 bytes.
    public let rawValue: String
    /// Creates a name.
    public init(rawValue: String) { self.rawValue = rawValue }
    /// Creates a name.
    public init(_ rawValue: String) { self.init(rawValue: rawValue) }
    public init(stringLiteral value: String) { self.init(rawValue: value) }
    /// The store of ``ManagedSettingsStore/init(named:)`` without a name.
    public static let `default`: Name = "default"
  }

  private let name: String

  /// Creates an object for the store with this name. An app has at most 50 stores with settings.
  public init(named name: Name = .default) { self.name = name.rawValue }

  private var settings: FamilyModel.ManagedSettings {
    (try? AppSession.current())?.managedSettings(name) ?? FamilyModel.ManagedSettings()
  }

  private func change(_ change: (inout FamilyModel.ManagedSettings) -> Void) {
    (try? AppSession.current())?.manage(name, change)
  }

  /// The restrictions of the web.
  public var webContent: WebContentSettings {
    get { WebContentSettings(settings.sites) }
    set { change { $0.sites = newValue.filter } }
  }

  /// The restrictions of apps.
  public var application: ApplicationSettings {
    get {
      let apps = settings.blockedApps
      return ApplicationSettings(
        blockedApplications: apps.isEmpty
          ? nil : Set(apps.map { Application(bundleIdentifier: $0.rawValue) }))
    }
    set {
      let apps = newValue.blockedApplications ?? []
      change { $0.blockedApps = Set(apps.compactMap(\.bundleIdentifier).map { AppID($0) }) }
    }
  }

  /// The restrictions of communication. An addition to Apple's API.
  public var communication: CommunicationSettings {
    get { CommunicationSettings(denyNewPeople: settings.deniesPeople ? true : nil) }
    set { change { $0.deniesPeople = newValue.denyNewPeople ?? false } }
  }

  /// Removes all restrictions of the store.
  public func clearAllSettings() { change { $0 = FamilyModel.ManagedSettings() } }

  /// Waits until the device enforces the settings, for at most a second.
  ///
  /// An addition to Apple's API. The device enforces settings without this call, too. After a failure
  /// for want of the device, the app's library sends the settings at the next connection.
  ///
  /// - Throws: `DeviceProblem`: 451 without an authorization, 307 above a limit, 420 if the device is away.
  public func untilEnforced() async throws {
    do {
      try await AppSession.current().confirm(name)
    } catch {
      throw DeviceProblem(reason: error)
    }
  }
}
