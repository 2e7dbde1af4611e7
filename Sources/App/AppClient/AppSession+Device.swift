import DeviceConnection
import FamilyCore
import FamilyModel
import Foundation
import RelayStore
import SQLiteStore

extension AppSession {
  /// Seconds to wait for another process of the same app to end, as one launched in the background.
  private static let patience = 5.0

  /// What stands in for the device within a test (`PermissionKitTesting`).
  @TaskLocal package static var override: AppSession?

  /// The session with this process's device, or why there is none.
  private static let ofProcess = Result {
    let session = try deviceSession()
    Task { await session.run() }
    return session
  }

  /// The session that the app's calls go to.
  ///
  /// - Throws: `NoDevice`, or what is wrong with the device's credential or the app's store.
  package static func current() throws -> AppSession { try override ?? ofProcess.get() }

  /// The process runs on no device: `PERMISSION_RELAY_DEVICE` is not set.
  package struct NoDevice: Error {}

  /// The file that `PERMISSION_RELAY_DEVICE` names cannot be used.
  struct BadCredential: Error, CustomStringConvertible {
    let path: String
    var description: String {
      "\(path), which PERMISSION_RELAY_DEVICE names, is no app's credential. child-agent writes one for each"
        + " --app into its folder."
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
