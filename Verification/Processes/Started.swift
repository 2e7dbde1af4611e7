public import Foundation
import Synchronization

/// The processes that this one has started, so that none is left when it is interrupted.
public enum Started {
  private static let processes = Mutex<[(pid: pid_t, signal: Int32)]>([])
  /// Seconds that they may take to end.
  private static let patience = 10.0

  /// Remembers a process.
  ///
  /// - Parameter signal: What ends it: SIGTERM for one that has processes of its own to end.
  public static func add(_ pid: pid_t, endedBy signal: Int32 = SIGKILL) {
    processes.withLock { $0.append((pid, signal)) }
  }

  /// Ends them, each by its id, and waits until they have ended.
  public static func end() {
    let processes = processes.withLock { $0 }
    for process in processes { kill(process.pid, process.signal) }
    let limit = Date().addingTimeInterval(patience)
    for process in processes {
      while kill(process.pid, 0) == 0, Date() < limit { usleep(10_000) }
    }
  }

  /// At Ctrl-C and SIGTERM ends them, cleans up, and ends this process, as long as what is returned lives.
  public static func endOnSignals(_ cleanUp: @escaping @Sendable () -> Void)
    -> [any DispatchSourceSignal]
  {
    Interrupts.handle { number in
      end()
      cleanUp()
      Foundation.exit(128 + number)
    }
  }
}
