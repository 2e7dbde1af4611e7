public import Foundation

/// The files and folders that a launched app may use. All others are denied, in particular the
/// device's folder with its keys and the folders of other apps.
public struct AppAccess: Hashable, Sendable {
  /// Paths that the app may read and execute, with all that is in them.
  public internal(set) var readable: [String]
  /// Paths that the app may also write.
  public internal(set) var writable: [String]

  /// Entries of a folder that are listed one by one, because a secret is beside them. Above: none
  /// of them is readable.
  static let entries = 1024

  /// Folders of the system: programs, libraries, certificates, time zones and the resolver.
  static let system = [
    "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/opt", "/etc", "/nix", "/proc", "/sys",
    "/run/systemd/resolve",
  ]
  static let devices = [
    "/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty",
  ]

  /// The access of an app: the system, the program with its folder, and the app's own folder.
  ///
  /// - Parameters:
  ///   - programs: Further programs that the app may start.
  ///   - secrets: Files and folders that stay hidden even in a readable folder.
  ///   - libraries: Folders of shared libraries, such as those of a Swift toolchain.
  public init(
    program: URL, folder: URL, programs: [String] = [], secrets: [URL],
    libraries: [String] = Self.loaded()
  ) {
    func real(_ path: String) -> String {
      guard let found = realpath(path, nil) else { return path }
      defer { free(found) }
      return String(cString: found)
    }
    let secrets = secrets.map { real($0.path) }
    let program = real(program.path)
    let folders =
      Self.system + libraries + [URL(fileURLWithPath: program).deletingLastPathComponent().path]
    var readable = Set(
      folders.map(real).flatMap { Self.expand($0, without: secrets, Self.list) })
    readable.insert(program)
    readable.formUnion(programs.map(real))
    self.readable = readable.sorted()
    writable = Self.devices + [real(folder.path)]
  }

  /// The supervisor's arguments.
  var arguments: [String] {
    readable.flatMap { ["-r", $0] } + writable.flatMap { ["-w", $0] }
  }

  /// The parts of a folder that contain no secret.
  static func expand(
    _ path: String, without secrets: [String], _ list: (String) -> [String]
  ) -> [String] {
    func isInside(_ inner: String, _ outer: String) -> Bool {
      inner == outer || inner.hasPrefix(outer == "/" ? "/" : outer + "/")
    }
    guard !secrets.contains(where: { isInside(path, $0) }) else { return [] }
    guard secrets.contains(where: { isInside($0, path) }) else { return [path] }
    let entries = list(path)
    guard entries.count <= Self.entries else { return [] }
    return entries.sorted().flatMap {
      expand(path == "/" ? "/\($0)" : "\(path)/\($0)", without: secrets, list)
    }
  }

  private static func list(_ folder: String) -> [String] {
    (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
  }

  /// The folders of the shared libraries in this process. An app of the same toolchain needs them.
  public static func loaded() -> [String] {
    let maps = (try? String(contentsOfFile: "/proc/self/maps", encoding: .utf8)) ?? ""
    let files = maps.split(separator: "\n").compactMap { line -> String? in
      guard let start = line.firstIndex(of: "/"), line[start...].contains(".so") else { return nil }
      return String(line[start...])
    }
    return Set(files.map { URL(fileURLWithPath: $0).deletingLastPathComponent().path }).sorted()
  }
}

/// The environment of a launched app.
enum AppEnvironment {
  /// The device's variables that every app inherits, beside those with the prefix `LC_`.
  static let inherited = ["PATH", "LANG", "LANGUAGE", "TZ"]

  /// The variables of an app with this folder. The manifest names further ones.
  static func variables(
    folder: URL, named: [String], of device: [String: String]
  ) -> [String: String] {
    var variables = device.filter { name, _ in
      inherited.contains(name) || name.hasPrefix("LC_") || named.contains(name)
    }
    variables["HOME"] = folder.path
    variables["TMPDIR"] = temporaryFolder(in: folder).path
    return variables
  }

  static func temporaryFolder(in folder: URL) -> URL { folder.appendingPathComponent("tmp") }
}
