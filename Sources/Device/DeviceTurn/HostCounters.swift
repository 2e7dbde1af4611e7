/// Counts of the messages and events that a host could not use, since its start.
package struct HostCounters: Hashable, Sendable {
  /// Replies of the relay that cannot be decoded or name no hosted device.
  package var unusableReplies = 0
  /// Events in pages that cannot be decoded at all.
  package var unreadableEvents = 0
  /// Broadcasts that cannot be opened with their channel's key, or not be decoded.
  package var unusableBroadcasts = 0
  /// Events that a device or an app rejected.
  package var rejectedEvents = 0
  /// Messages of apps that cannot be decoded.
  package var unusableAppMessages = 0
  /// Requests of apps above their rate.
  package var refusedAppRequests = 0

  /// Counts at the start.
  package init() {}
}
