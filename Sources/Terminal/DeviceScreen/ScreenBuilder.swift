import DeviceAgent
import FamilyCore
package import FamilyModel
package import Foundation
import SystemClock
import TerminalUI
package import Wording

/// Computes a device's document in one language.
struct ScreenBuilder {
  let source: DeviceSource
  let timeline: Timeline
  /// The entries of one conversation.
  let entryLimit: Int

  var link: DeviceLink { source.view.link }
  var renderer: Renderer { timeline.renderer }
  var wording: Wording { renderer.wording }

  init(
    _ source: DeviceSource, _ wording: Wording, now: Instant, timeZone: TimeZone, entryLimit: Int
  ) {
    self.source = source
    self.entryLimit = entryLimit
    timeline = Timeline(
      link: source.view.link,
      renderer: Renderer(
        wording, columns: Renderer.minimumColumns, now: now, timeZone: timeZone,
        pictures: source.pictures, appNames: source.view.appNames(source.manifests, wording)))
  }

  var screen: Screen {
    Screen(
      family: link.address.family.rawValue, device: link.address.device.rawValue,
      person: link.personID.rawValue, name: source.view.name.sanitized,
      role: (link.person?.role ?? source.role).code, relay: source.view.relay.code,
      isShutOut: link.isShutOut, outbox: link.pendingCommands.count,
      hasPasscode: link.passcode != nil, language: wording.language.rawValue,
      positions: link.position.map {
        Screen.Position(audience: $0.audience.rawValue, seq: $0.delivered)
      },
      notices: source.view.notifications.all.reversed().map(notification), banners: banners,
      refusals: source.refusals.suffix(ScreenLimits.refusals).compactMap(refusal),
      prompts: source.prompts.map(prompt), children: source.people.map(child))
  }

  private var banners: [String] {
    let connection: String? =
      switch source.view.relay {
      case .connected, .unused: nil
      case .connecting, .unreachable: wording(.notConnected)
      case .wrongRelay: wording(.otherRelay)
      }
    return [connection, link.isShutOut ? wording(.notInFamily) : nil].compactMap { $0 }
  }

  private func notification(_ kept: DeviceNotification) -> Screen.Notification {
    Screen.Notification(
      id: kept.id.uuid.uuidString, at: kept.at.milliseconds, kind: kept.notice.code,
      text: timeline.sentence(kept.notice, isGuardian: source.view.isGuardian),
      isRead: kept.isRead)
  }

  private func refusal(_ refused: Refused) -> Screen.Refusal? {
    let (text, problem): (String, Problem)
    switch refused.notice {
    case .refused(let command, let reason):
      // A reason that needs an event is replaced when the event arrives.
      text =
        timeline.reason(for: reason, of: command) ?? wording(.notDone, "\(reason.code)")
      problem = reason
    case .noPasscode: (text, problem) = (wording(.noPasscode), .noPasscode)
    case .passcodeNotSet(let reason): (text, problem) = (wording(.passcodeNotSet), reason)
    default: return nil
    }
    return Screen.Refusal(
      at: refused.at.milliseconds, text: text, code: Int(problem.code))
  }

  /// The app as people read it, without controls.
  func name(of app: AppID) -> String { renderer.name(of: app).sanitized }

  func person(_ subject: Subject) -> Screen.Person {
    let name = subject.name.map(wording.name) ?? ""
    return Screen.Person(
      name: name.isEmpty ? nil : name, handle: subject.handle.value.sanitized,
      handleKind: subject.handle.kind.code,
      picture: subject.avatar.map { avatar in
        Screen.Person.Picture(
          mediaType: avatar.mediaType.sanitized, bytes: avatar.bytes.count,
          isClean: source.pictures.isClean(avatar), text: renderer.line(of: avatar))
      })
  }

  func people(_ topic: Topic?) -> [Screen.Person] {
    switch topic {
    case .communication(let people, _): people.map(person)
    case .significantUpdate, .browse, .authorization, nil: []
    }
  }

  /// The app's description of its update, or the site; `nil` for another topic, or without a visible
  /// text.
  func description(_ topic: Topic?) -> String? {
    switch topic {
    case .significantUpdate(let text): text.isVisible ? text.sanitizedLines : nil
    case .browse(let site): site.name
    case .communication, .authorization, nil: nil
    }
  }
}

extension Screen {
  /// Computes the document of a device. The same values give the same document.
  package init(
    _ source: DeviceSource, _ wording: Wording, now: Instant, timeZone: TimeZone = .current
  ) {
    self.init(source, wording, now: now, timeZone: timeZone, entries: ScreenLimits.entries)
  }

  /// - Parameter entries: The entries of one conversation.
  init(
    _ source: DeviceSource, _ wording: Wording, now: Instant, timeZone: TimeZone = .current,
    entries: Int
  ) {
    self =
      ScreenBuilder(source, wording, now: now, timeZone: timeZone, entryLimit: entries).screen
  }
}
