import CProcess
import Glibc

/// The memory of a process that holds keys.
public enum ProcessMemory {
  /// Keeps the memory of this process out of core files, and from other processes of the same user.
  ///
  /// Without debuggers and crash reports, a trap that a peer causes reveals no key. A program that
  /// this process starts is dumpable again.
  public static func protect() {
    var none = rlimit(rlim_cur: 0, rlim_max: 0)
    _ = setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
    _ = cprocess_set_dumpable(0)
  }

  /// Whether other processes of the same user cannot read this process.
  package static var isProtected: Bool { cprocess_is_dumpable() == 0 }
}
