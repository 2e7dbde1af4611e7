import FamilyModel

/// Why a store call failed.
public struct StoreError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The kinds of failures.
  public enum Code: Hashable, Sendable { case damaged, conflict, full, locked, io, wrongVersion }
  /// The kind of this failure.
  public let code: Code
  /// The damaged record, or the failed call. The text contains no stored data.
  public let detail: String

  /// The bytes on disk are not the bytes that were written.
  ///
  /// - Parameter detail: The damaged record. The text must not contain stored data.
  public static func damaged(_ detail: String) -> StoreError {
    StoreError(code: .damaged, detail: detail)
  }
  /// An event is not the next one of its family. Nothing of the batch is stored.
  public static let conflict = StoreError(code: .conflict, detail: "")
  /// The disk is full. Nothing of the batch is stored.
  public static let full = StoreError(code: .full, detail: "")
  /// Another process, or another store of this process, uses the file.
  public static let locked = StoreError(code: .locked, detail: "")
  /// A system call failed, or a lock within the process stayed held.
  public static func io(_ detail: String) -> StoreError { StoreError(code: .io, detail: detail) }
  /// The file belongs to another program, or to another version of this one.
  public static func wrongVersion(_ detail: String) -> StoreError {
    StoreError(code: .wrongVersion, detail: detail)
  }

  /// The error and its remedy, for people. The text contains no stored data.
  public var description: String {
    switch code {
    case .damaged:
      "\(Problem.storeDamaged): \(detail). Nothing was changed. "
        + "Restore a relay's file from a backup. "
        + "Start an agent with --salvage: it keeps all records that are whole, and fetches lost "
        + "events again."
    case .conflict: "An event is not the next one of its family. Nothing was stored."
    case .full: "The disk is full. Nothing was stored. Free some space and start again."
    case .locked: "Another process uses the store. Stop that process, or choose another folder."
    case .io: "The store failed: \(detail)."
    case .wrongVersion:
      "The file is not a store of this version (\(detail)). Nothing was changed. "
        + "Use a relay's file with the version that wrote it. "
        + "An agent's file has the commands that the relay lacks, and what apps have not handled. "
        + "Bring them to their ends with the version that wrote the file before you remove it."
    }
  }

  /// Whether the error is ``damaged(_:)``.
  public var isDamage: Bool { code == .damaged }
}
