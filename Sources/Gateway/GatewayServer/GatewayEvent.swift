import FamilyModel
package import GatewayModel
package import SQLiteStore

/// The JSON of an event, the same for event streams, the feed and webhooks.
package enum GatewayEvent {
  /// The event as an object.
  package static func value(_ event: SQLiteGatewayStore.Event) -> JSONValue {
    .object([
      "id": .number(event.number), "type": .string(event.type), "time": event.time.json,
      "app": .string(event.app), "data": (try? .parse(.init(event.data.utf8))) ?? .null,
    ])
  }

  /// The event's JSON on one line.
  package static func json(_ event: SQLiteGatewayStore.Event) -> [UInt8] {
    [UInt8](value(event).data)
  }
}
