import DeviceAgent
import FamilyCore
import FamilyModel
import Wording

/// The commands about the own device: its notifications, and explanations of handles.
extension TerminalSession {
  /// Lists the notifications and marks them as read.
  func listNotifications() async {
    guard let view, let timeline else { return }
    let all = view.notifications.all
    shownNotifications = all.map(\.id)
    guard !all.isEmpty else {
      return write(renderer.text(wording(.noNotifications), .faint))
    }
    var rows = [renderer.rule(wording(.notifications))]
    for (index, notification) in all.enumerated() {
      let mark = Row("\(index + 1) ", .key) + Row(notification.isRead ? "  " : "◆ ", .question)
      let sentence = timeline.sentence(notification.notice, isGuardian: isGuardian)
      let text = "\(renderer.time(notification.at)) · \(sentence)"
      rows += renderer.hanging(mark, text, notification.isRead ? .plain : .bold)
    }
    write(rows)
    if isGuardian {
      await act(.readNotifications)
    } else {
      await host.act(ChildMachine.Input.readNotifications, on: address)
    }
  }

  /// Dismisses the notification with this number in the last list, or all.
  func dismissNotification(_ number: Int?) async {
    var id: CommandID?
    if let number {
      guard shownNotifications.indices.contains(number - 1) else {
        showNotFound("\(number)")
        return await listNotifications()
      }
      id = shownNotifications[number - 1]
    }
    if isGuardian {
      await act(.dismissNotification(id))
    } else {
      await host.act(ChildMachine.Input.dismissNotification(id), on: address)
    }
    await refresh()
    await listNotifications()
  }

  /// Explains the handle for the child, in one app or in every app that the device knows.
  func explain(_ handle: Handle, in app: AppID?) async {
    guard let timeline, let child = pickedChild else { return }
    let renderer = renderer
    for explanation in await host.explain(handle, of: child.id, in: app, on: address) {
      let sentences = wording.sentences(
        explanation, name: timeline.name, app: renderer.name(of:), time: { renderer.time($0) })
      write(renderer.text(sentences[0], .bold))
      write(sentences.dropFirst().flatMap { renderer.hanging("• ", $0) })
    }
  }
}

extension TerminalCommand {
  /// Parses `notices`, `dismiss N`, `dismiss all` and `explain [KIND] HANDLE [in APP]`.
  static func device(_ words: [String]) -> TerminalCommand? {
    switch (words[0].lowercased(), words.count) {
    case ("notices", 1): return .notices
    case ("dismiss", 2) where words[1] == "all": return .dismiss(nil)
    case ("dismiss", 2): return Int(words[1]).map { .dismiss($0) }
    case ("explain", 2...):
      var rest = words.dropFirst()
      var app: AppID?
      if rest.count > 2, rest[rest.endIndex - 2] == "in" {
        app = AppID(rest.removeLast())
        rest.removeLast()
      }
      let kinds: [String: Handle.Kind] = [
        "phone": .phoneNumber, "email": .emailAddress, "custom": .custom,
      ]
      if rest.count > 1, let kind = kinds[rest.first!] {
        return .explain(Handle(rest.dropFirst().joined(separator: " "), kind), app)
      }
      return .explain(Handle(guessingKindOf: rest.joined(separator: " ")), app)
    default: return nil
    }
  }

  /// The device's commands in the list of commands.
  static let deviceHelp: [(usage: String, effect: Phrase)] = [
    ("notices", .helpNotices), ("dismiss N|all", .helpDismiss),
    ("explain [KIND] HANDLE [in APP]", .helpExplain),
  ]
}
