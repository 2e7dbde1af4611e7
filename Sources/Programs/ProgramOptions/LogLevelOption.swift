public import ArgumentParser
public import Logging

/// The option `--log-level`, which all servers and agents share.
public struct LogLevelOption: ParsableArguments {
  private static let names = Logger.Level.allCases.map(\.rawValue)
  private static let choices = "\(names.dropLast().joined(separator: ", ")) or \(names.last!)"

  /// The level's name.
  @Option(help: "Lowest level that is logged: \(LogLevelOption.choices).")
  public var logLevel = "info"

  public init() {}

  /// Rejects an unknown level.
  ///
  /// - Throws: `ValidationError` with the known levels.
  public func validate() throws {
    guard Logger.Level(rawValue: logLevel) == nil else { return }
    throw ValidationError("Unknown log level '\(logLevel)'. Choose \(Self.choices).")
  }

  /// A logger that writes messages of this level and above to standard error.
  public func logger(label: String) -> Logger {
    var logger = Logger(label: label) { StreamLogHandler.standardError(label: $0) }
    logger.logLevel = Logger.Level(rawValue: logLevel) ?? .info
    return logger
  }
}
