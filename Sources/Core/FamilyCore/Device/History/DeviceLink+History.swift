extension DeviceLink {
  /// Moves the settled history of the device from memory to a storage.
  mutating func moveHistory(to storage: any HistoryStorage) {
    family.moveHistory(to: storage)
    verifier?.commands.move(to: storage)
    verifier?.evidence?.moveHistory(to: storage)
  }
}

extension Conversation {
  mutating func moveHistory(to storage: any HistoryStorage) {
    lines.move(to: storage)
    questions.move(to: storage)
    origins.move(to: storage)
  }
}
