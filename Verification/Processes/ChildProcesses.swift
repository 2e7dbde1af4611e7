public import Foundation
import Synchronization

/// The processes that this process has started. None survives an interruption.
public enum ChildProcesses {
  private static let processes = Mutex<[(pid: pid_t, signal: Int32)]>([])
  /// Seconds to wait for all processes to end.
  private static let stopTimeout = 10.0

  /// Registers a started process.
  ///
  /// - Parameter signal: The signal that ends the process: SIGTERM for one that must first end its
  ///   own children.
  public static func add(_ pid: pid_t, endedBy signal: Int32 = SIGKILL) {
    processes.withLock { $0.append((pid, signal)) }
  }

  /// Ends every registered process by its id and waits until all have ended, for 10 s at most.
  public static func stopAll() {
    let processes = processes.withLock { $0 }
    for process in processes { kill(process.pid, process.signal) }
    let deadline = Date().addingTimeInterval(stopTimeout)
    for process in processes {
      while kill(process.pid, 0) == 0, Date() < deadline { usleep(10_000) }
    }
  }

  /// On SIGINT and SIGTERM, stops all child processes, cleans up, and exits with 128 plus the
  /// signal.
  ///
  /// - Returns: The signal sources. The handler stays installed while they live.
  public static func stopOnSignals(_ cleanUp: @escaping @Sendable () -> Void)
    -> [any DispatchSourceSignal]
  {
    Interrupts.handle { number in
      stopAll()
      cleanUp()
      Foundation.exit(128 + number)
    }
  }
}
