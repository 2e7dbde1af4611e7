/// The work of an operator on a store in use: verification, copies, and shipping of the log.
public protocol StoreMaintenance {
  /// Verifies some events, in the engine's order, so that damage is found before a reader needs the
  /// event.
  ///
  /// - Parameters:
  ///   - position: The last position of the call before; 0 begins.
  ///   - limit: The largest number of events.
  /// - Returns: The last position, and the damaged events. The position is `nil` at the end of the
  ///   store, and at once if the engine verifies nothing.
  func verify(after position: Int64, limit: Int) throws(StoreError) -> Verification
  /// Copies the next part of the store to the file `path`, and begins a copy if none to that file is
  /// under way. Commits between two calls are part of the copy.
  ///
  /// A complete copy has exactly the commits that returned before the last call. The caller syncs the
  /// file.
  ///
  /// - Parameter room: The bytes that the rest of the copy may take.
  /// - Throws: `full` if the rest takes more; `io` if the engine makes no copies. An error ends the copy,
  ///   and the next call begins again.
  func copyPart(to path: String, room: Int) throws(StoreError) -> CopyProgress
  /// The next part of the log after the first `position` events, in order of arrival. The part ends after
  /// `limit` events, or after `bytes` of payload. Damaged records are part of the log.
  ///
  /// - Throws: `io` if the disk cannot be read, or the engine ships no log.
  func log(after position: Int, limit: Int, bytes: Int) throws(StoreError) -> LogPart
  /// Replaces the payloads of stored events, as a whole or not at all, to erase contents. The former
  /// bytes are overwritten in the store, not in copies and logs.
  ///
  /// - Parameter events: The events with their new payloads, by their numbers in the log. All other
  ///   parts are equal to the stored ones.
  /// - Throws: `conflict` if the log has another event with this number; `damaged` if the log has none,
  ///   or its checksum does not match; `io` if the engine erases nothing.
  func replace(_ events: [Int: StoredEvent]) throws(StoreError)
}
