extension DeviceLink {
  /// Moves the settled history of the device from memory to a storage.
  mutating func moveHistory(to storage: any HistoryStorage) {
    for child in family.conversations.keys.sorted() {
      family.conversations[child]!.moveHistory(to: storage)
    }
    verifier?.commands.move(to: storage)
    verifier?.evidence?.moveHistory(to: storage)
  }
}

extension Conversation {
  fileprivate mutating func moveHistory(to storage: any HistoryStorage) {
    lines.move(to: storage)
    questions.move(to: storage)
    origins.move(to: storage)
  }
}
