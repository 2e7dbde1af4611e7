import CAppLauncher
@testable import DeviceAgent
import Foundation
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(10))) struct LaunchTests {
  @Test("T9: a terminated app ends with all its processes, also those in sessions of their own")
  func terminated() async throws {
    let app = try TestApp()
    defer { app.remove() }
    async let end = app.run(
      """
      sleep 300 & echo $! > child
      (setsid sh -c 'echo $$ > daemon; exec sleep 300' &)
      sleep 300
      """)
    let processes = [try await app.number("child"), try await app.number("daemon")]
    #expect(processes.allSatisfy(TestApp.isRunning))
    app.launcher.terminate(name: "own")
    #expect(try await end == .outOfTime)
    #expect(!processes.contains(where: TestApp.isRunning))
  }

  @Test("T9: processes that an app leaves behind end with it") func leftBehind() async throws {
    let app = try TestApp()
    defer { app.remove() }
    let end = try await app.run(
      "(setsid sh -c 'echo $$ > daemon; exec sleep 300' &)\nuntil test -s daemon; do :; done; exit 3"
    )
    #expect(end == .exited(3))
    #expect(!TestApp.isRunning(try await app.number("daemon")))
  }

  @Test("reports how an app ended") func ends() async throws {
    let app = try TestApp()
    defer { app.remove() }
    #expect(try await app.run("exit 0") == .exited(0))
    #expect(try await app.run("kill -SEGV $$") == .signaled(SIGSEGV))
    let process = Mutex<Int32>(0)
    #expect(
      try await app.run("echo $$ > number") { number, _ in process.withLock { $0 = number } }
        == .exited(0))
    #expect(try await app.number("number") == process.withLock { $0 })
    let missing = URL(fileURLWithPath: "/nowhere/app")
    let end = await app.launcher.run(
      Launcher.Installed(
        executable: missing.path, arguments: [],
        credential: app.device.appendingPathComponent("app-1-3-own.json"), folder: app.folder,
        log: app.log, environment: [:],
        access: AppAccess(program: missing, folder: app.folder, secrets: [app.device])),
      name: "missing")
    #expect(end == .notStarted(ENOENT))
  }

  @Test("T9: an app's log is bounded, and rotated once") func log() async throws {
    let app = try TestApp()
    defer { app.remove() }
    let end = try await app.run("head -c 5000000 /dev/zero; echo end")
    #expect(end == .exited(0))
    func size(_ file: String) throws -> Int {
      let attributes = try FileManager.default.attributesOfItem(atPath: file)
      return attributes[.size] as? Int ?? 0
    }
    #expect(try size(app.log.path) <= Launcher.logBytes)
    #expect(try size(app.log.path + ".1") <= Launcher.logBytes)
    #expect(app.output.hasSuffix("end\n"))
  }

  @Test("T9: a launched app has the device's language and its own folders, and no other variable")
  func environment() {
    let folder = URL(fileURLWithPath: "/device/app")
    let device = [
      "PATH": "/bin", "LC_TIME": "fr", "LANG": "fr", "TZ": "UTC", "AWS_SECRET": "x", "proxy": "y",
      "HOME": "/home/emily", "TMPDIR": "/tmp", "PERMISSION_RELAY_DEVICE": "other",
    ]
    #expect(
      AppEnvironment.variables(folder: folder, named: ["proxy"], of: device) == [
        "PATH": "/bin", "LC_TIME": "fr", "LANG": "fr", "TZ": "UTC", "proxy": "y",
        "HOME": "/device/app", "TMPDIR": "/device/app/tmp",
      ])
  }
}

@Suite(
  .enabled(if: Launcher.canConfine, "the kernel has no Landlock"), .timeLimit(.minutes(10)))
struct ConfinementTests {
  @Test(
    "T9: an app cannot open a secret of the device or of another app", arguments: TestApp.secrets)
  func secrets(_ name: String) async throws {
    let app = try TestApp()
    defer { app.remove() }
    let confined = Mutex(false)
    let path = app.device.appendingPathComponent(name).path
    let end = try await app.run(
      "cat '\(path)'; echo x > '\(path)'; cat /proc/self/cwd/../\(name)"
    ) { _, isConfined in confined.withLock { $0 = isConfined } }
    #expect(end == .exited(1))
    #expect(confined.withLock { $0 })
    #expect(app.output.components(separatedBy: "Permission denied").count == 4, "\(app.output)")
    #expect(try String(contentsOfFile: path, encoding: .utf8) == "secret")
  }

  @Test("T9: an app can list, create, rename and link nothing outside of its own folder")
  func writes() async throws {
    let app = try TestApp()
    defer { app.remove() }
    _ = try await app.run(
      """
      cd ..
      ls . ; ls app-1-3-other; touch new; touch /tmp/new-from-app; mkdir app-1-3-other/new
      mv app-1-3-own/tmp app-1-3-other/; ln device.key app-1-3-own/key; rm device.key
      """)
    let errors = app.output.split(separator: "\n")
    #expect(errors.count == 8, "\(app.output)")
    #expect(
      errors.allSatisfy {
        $0.contains("Permission denied") || $0.contains("cross-device") || $0.contains("EXDEV")
      }, "\(app.output)")
    #expect(
      FileManager.default.fileExists(atPath: app.device.appendingPathComponent("device.key").path))
  }

  @Test("T9: an app cannot signal its device, and cannot read the device's memory or environment")
  func processes() async throws {
    let app = try TestApp()
    defer { app.remove() }
    let device = getpid()
    _ = try await app.run(
      "cat /proc/\(device)/environ >/dev/null; head -c 1 /proc/\(device)/mem; cat /proc/\(device)/maps"
    )
    #expect(app.output.components(separatedBy: "denied").count == 4, "\(app.output)")
    _ = try await app.run("kill -0 \(device) && echo signalled")
    // Signals are denied from version 6 of Landlock on.
    #expect(app.output.hasSuffix("signalled\n") == (app_launcher_landlock_version() < 6))
  }

  @Test("T9: a confined app reads its credential, and writes its own folder") func own()
    async throws
  {
    let app = try TestApp()
    defer { app.remove() }
    let end = try await app.run(
      """
      set -e
      test "$(cat <&3)" = secret
      pwd; echo data > store; cat store; echo data > "$TMPDIR/x"; echo x > /dev/null
      mkdir new; mv store new/; rm -r new; ls /usr >/dev/null
      """)
    #expect(end == .exited(0), "\(app.output)")
    #expect(app.output.hasSuffix("\(app.folder.path)\ndata\n"))
  }
}

@Suite struct AppAccessTests {
  private let tree = [
    "/home/mia": ["bin", "device", "photos"], "/home/mia/bin": ["app"],
    "/home/mia/device": ["device.key"],
  ]

  private func expand(_ path: String, _ secrets: String...) -> [String] {
    AppAccess.expand(path, without: secrets) { tree[$0] ?? [] }
  }

  @Test("T9: a folder without a secret is readable as a whole, one inside a secret not at all")
  func whole() {
    #expect(expand("/usr", "/home/mia/device") == ["/usr"])
    #expect(expand("/home/mia/device", "/home/mia/device") == [])
    #expect(expand("/home/mia/device/app", "/home/mia/device") == [])
    #expect(expand("/home/mia/devices", "/home/mia/device") == ["/home/mia/devices"])
  }

  @Test("T9: a folder with a secret is readable but for the secret") func partial() {
    #expect(
      expand("/home/mia", "/home/mia/device/device.key") == ["/home/mia/bin", "/home/mia/photos"])
    #expect(expand("/home/mia", "/home/mia/device", "/home/mia/bin/app") == ["/home/mia/photos"])
  }
}
