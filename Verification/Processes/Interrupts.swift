public import Foundation

/// Ctrl-C and SIGTERM, for a process that has something to do before it ends.
public enum Interrupts {
  /// Has the body called with the signal's number, instead of the process ended, until what is returned is
  /// cancelled or let go.
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
