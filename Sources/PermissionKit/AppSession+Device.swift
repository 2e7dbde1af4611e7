import DeviceConnection
import DeviceSocket
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
  private static let ofProcess: Result<AppSession, AskError> = {
    do {
      let session = try deviceSession()
      Task { await session.run() }
      return .success(session)
    } catch {
      return .failure(error as? AskError ?? .systemError(underlyingError: error))
    }
  }()

  /// The session that the app's calls go to.
  static var current: Result<AppSession, AskError> { override.map { .success($0) } ?? ofProcess }

  private static func deviceSession() throws -> AppSession {
    guard let path = ProcessInfo.processInfo.environment[AppCredential.variable] else {
      throw AskError.notAvailable
    }
    let data = try Data(contentsOf: URL(fileURLWithPath: path))
    let credential = try JSONDecoder().decode(AppCredential.self, from: data)
    let file = URL(fileURLWithPath: credential.storage).appendingPathComponent(
      "permissionkit.sqlite")
    let store = try open(file.path)
    return try AppSession(AppID(credential.app), try DeviceSocket(credential), store)
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
