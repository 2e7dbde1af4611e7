import DeviceConnection
import FamilyCore
import FamilyModel
import Foundation
import RelayStore
import SQLiteStore

extension AppSession {
  /// Seconds to wait for the store while another process of the app holds it, such as a background
  /// launch.
  private static let patience = 5.0

  /// The session that replaces the process's session in a test (`PermissionKitTesting`).
  @TaskLocal package static var override: AppSession?

  /// The session with this process's device, or the reason for its absence. Opened once per
  /// process.
  private static let ofProcess = Result {
    let session = try deviceSession()
    Task { await session.run() }
    return session
  }

  /// The session that serves the app's calls. The first call may block for five seconds.
  ///
  /// - Throws: `NoDevice`, `BadCredential`, `StoreError` or `ZeroMQError`.
  package static func current() throws -> AppSession { try override ?? ofProcess.get() }

  /// The process runs on no device: `PERMISSION_RELAY_DEVICE` is not set.
  package struct NoDevice: Error {}

  /// The file named by `PERMISSION_RELAY_DEVICE` is missing or is not an app's credential.
  struct BadCredential: Error, CustomStringConvertible {
    let path: String
    var description: String {
      "PERMISSION_RELAY_DEVICE is \(path), which is not an app's credential. "
        + "child-agent writes one credential per --app into its folder."
    }
  }

  private static func deviceSession() throws -> AppSession {
    guard let path = ProcessInfo.processInfo.environment[AppCredential.variable] else {
      throw NoDevice()
    }
    guard let data = try? Data(contentsOf: URL(fileURLWithPath: path)),
      let credential = try? JSONDecoder().decode(AppCredential.self, from: data)
    else { throw BadCredential(path: path) }
    let file = URL(fileURLWithPath: credential.storage).appendingPathComponent(
      "permissionkit.sqlite")
    let store = try open(file.path)
    let security = AppSecurity(
      family: FamilyID(credential.family), child: PersonID(credential.person),
      organizerKey: credential.organizerKey)
    return try AppSession(AppID(credential.app), security, try DeviceSocket(credential), store)
  }

  private static func open(_ path: String) throws(StoreError) -> sending SQLiteAgentStore {
    let end = Date().addingTimeInterval(patience)
    while true {
      do throws(StoreError) {
        return try SQLiteAgentStore(path: path)
      } catch {
        guard error == .locked, Date() < end else { throw error }
      }
    }
  }
}
