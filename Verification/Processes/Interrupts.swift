public import Foundation

/// SIGINT and SIGTERM handlers for a process that must clean up before it ends.
public enum Interrupts {
  /// Calls the body with the signal's number instead of ending the process.
  ///
  /// - Returns: The signal sources. The handler stays installed until they are cancelled or
  ///   released.
  public static func handle(_ body: @escaping @Sendable (Int32) -> Void)
    -> [any DispatchSourceSignal]
  {
    [SIGINT, SIGTERM].map { number in
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
      source.setEventHandler { body(number) }
      source.resume()
      return source
    }
  }
}
