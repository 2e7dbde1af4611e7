import PermissionKit

/// The app: started by a person, or by the device with the argument `background`.
struct ChatApp {
  let chats: [Chat]
  let decisions = Decisions()

  func run(_ arguments: [String]) async throws {
    // First of all, because the loop lets the device launch the app for later responses.
    let updates = Task { await decisions.run() }
    if arguments.contains("background") {
      try await decisions.waitUntilIdle(for: .milliseconds(500))
      updates.cancel()
    } else {
      for chat in chats {
        guard let preview = await chat.visiblePreview else {
          try await chat.askForPermission()
          continue
        }
        print(preview)
      }
    }
    await updates.value
  }
}
