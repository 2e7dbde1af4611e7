package import DeviceAgent
package import FamilyCore
package import FamilyModel
import SystemClock
package import TerminalUI

/// A command that was refused, or another failure of an act.
package struct Refused: Sendable {
  package var at: Instant
  package var notice: Notice

  package init(at: Instant, notice: Notice) {
    self.at = at
    self.notice = notice
  }
}

/// The values from which a device's document is computed.
package struct DeviceSource: Sendable {
  package var view: DeviceView
  /// The owner's role until the device knows a roster.
  package var role: Role
  /// The manifests of the host's apps.
  package var manifests: [AppID: AppManifest]
  package var ages: [PersonID: [AgeExplanation]]
  package var prompts: [OpenPrompt]
  package var refusals: [Refused]
  package var pictures: Pictures

  package init(
    view: DeviceView, role: Role, manifests: [AppID: AppManifest] = [:],
    ages: [PersonID: [AgeExplanation]] = [:], prompts: [OpenPrompt] = [],
    refusals: [Refused] = [], pictures: Pictures = Pictures()
  ) {
    self.view = view
    self.role = role
    self.manifests = manifests
    self.ages = ages
    self.prompts = prompts
    self.refusals = refusals
    self.pictures = pictures
  }

  /// The people whose conversations and settings the document shows.
  package var people: [FamilyModel.Person] {
    let link = view.link
    guard !view.isGuardian else { return link.roster.children }
    let owner = FamilyModel.Person(id: link.personID, role: role, displayName: view.name)
    return [link.roster.person(link.personID) ?? owner]
  }
}

extension DeviceSource {
  /// The open questions of all conversations, whose pictures are checked.
  var openCards: [Card] {
    view.link.conversations.values.flatMap(\.questions.unanswered).filter { $0.isOpen(.now) }.map(
      Card.init)
  }
}
