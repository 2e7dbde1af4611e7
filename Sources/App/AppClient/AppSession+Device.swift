package import DeviceConnection
import Dispatch
import FamilyCore
import FamilyModel
import Foundation
import RelayStore
import SQLiteStore

extension AppSession {
  /// The session that replaces the process's session in a test (`PermissionKitTesting`).
  @TaskLocal package static var override: AppSession?

  /// The session with this process's device, or the reason for its absence. Opened once per
  /// process.
  private static let ofProcess = Result {
    let session = try AppSession.session(of: credential())
    Task { await session.run() }
    finishLoopsAtExit()
    return session
  }

  /// The session that serves the app's calls. The first call opens the app's store.
  ///
  /// - Throws: `NoDevice`, `BadCredential`, `StoreError` or `ZeroMQError`.
  package static func current() throws -> AppSession { try override ?? ofProcess.get() }

  /// The process runs on no device: `PERMISSION_RELAY_DEVICE` is not set.
  package struct NoDevice: Error {}

  /// The file or descriptor in `PERMISSION_RELAY_DEVICE` is missing or is not an app's credential.
  struct BadCredential: Error, CustomStringConvertible {
    let path: String
    var description: String {
      "PERMISSION_RELAY_DEVICE is \(path), which is not an app's credential. "
        + "child-agent writes one credential per --app into its folder."
    }
  }

  private static func credential() throws -> AppCredential {
    guard let path = ProcessInfo.processInfo.environment[AppCredential.variable] else {
      throw NoDevice()
    }
    guard let data = read(path),
      let credential = try? JSONDecoder().decode(AppCredential.self, from: data)
    else { throw BadCredential(path: path) }
    return credential
  }

  /// Reads the file with this path or, in a launched app, with this descriptor.
  ///
  /// The descriptor stays open, and its position unchanged: another process of the app may inherit
  /// it.
  static func read(_ path: String) -> Data? {
    guard path.hasPrefix(AppCredential.descriptorPrefix) else {
      return try? Data(contentsOf: URL(fileURLWithPath: path))
    }
    guard let descriptor = Int32(path.dropFirst(AppCredential.descriptorPrefix.count)) else {
      return nil
    }
    var bytes = [UInt8](repeating: 0, count: 16 * 1024)
    let count = pread(descriptor, &bytes, bytes.count, 0)
    return count > 0 ? Data(bytes.prefix(count)) : nil
  }

  /// A session with the device that the credential names.
  package static func session(
    of credential: AppCredential, timing: SessionTiming = SessionTiming()
  ) throws -> AppSession {
    let folder = URL(fileURLWithPath: credential.storage)
    let path = folder.appendingPathComponent("permissionkit.sqlite").path
    let security = AppSecurity(
      family: FamilyID(credential.family), child: PersonID(credential.person),
      organizerKey: credential.organizerKey)
    return try AppSession(
      AppID(credential.app), security, try DeviceSocket(credential), timing: timing,
      copy: KnownCopy(folder: folder), decoder: credential.decoder
    ) { () throws(StoreError) in
      // The session retries, so SQLite must not block its thread.
      try SQLiteAgentStore(path: path, waitsForLock: false)
    }
  }

  /// Counts the last responses of ended loops as handled when the process exits with status 0, so
  /// that a program of one loop may end at once. Another status leaves them unhandled.
  private static func finishLoopsAtExit() {
    _ = on_exit(
      { status, _ in
        guard status == 0, let session = try? AppSession.ofProcess.get(), session.hasEndedLoops
        else { return }
        let done = DispatchSemaphore(value: 0)
        Task.detached {
          await session.finishEndedLoops()
          done.signal()
        }
        _ = done.wait(timeout: .now() + .seconds(1))
        // libzmq's thread sends the acknowledgement. A lost one costs a launch without a response.
        usleep(5_000)
      }, nil)
  }
}
