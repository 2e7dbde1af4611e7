import FamilyModel

/// Why a store cannot do what it was asked.
public struct StoreError: Error, Hashable, Sendable, CustomStringConvertible {
  enum Code: Hashable, Sendable { case damaged, conflict, full, locked, io, wrongVersion }
  let code: Code
  let detail: String

  /// What is on disk is not what was written: nothing is guessed.
  public static func damaged(_ what: String) -> StoreError {
    StoreError(code: .damaged, detail: what)
  }
  /// An event is not the next one of its family. Nothing of the batch was kept.
  public static let conflict = StoreError(code: .conflict, detail: "")
  /// The disk is full. Nothing of the batch was kept.
  public static let full = StoreError(code: .full, detail: "")
  /// Another process has the file.
  public static let locked = StoreError(code: .locked, detail: "")
  /// The system failed.
  public static func io(_ what: String) -> StoreError { StoreError(code: .io, detail: what) }
  /// The file is of another program, or of another version of this one.
  public static func wrongVersion(_ what: String) -> StoreError {
    StoreError(code: .wrongVersion, detail: what)
  }

  /// What happened and what to do. It holds nothing of what is stored.
  public var description: String {
    switch code {
    case .damaged:
      "\(Problem.storeDamaged): \(detail). Nothing was changed. Restore a relay's file from a copy; "
        + "remove a device's, and it is fetched from the relay again."
    case .conflict: "An event is not the next one of its family. Nothing was stored."
    case .full: "The disk is full. Nothing was stored. Make room and start again."
    case .locked: "Another process uses the store. Stop it, or choose another folder."
    case .io: "The system failed: \(detail)."
    case .wrongVersion: "This is not a store of this version (\(detail)). Nothing was changed."
    }
  }

  /// Whether what is on disk is not what was written.
  public var isDamage: Bool { code == .damaged }
}
