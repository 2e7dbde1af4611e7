// Code with the calls of the two talks' listings and of Apple's newer documentation.
//
// Views are plain values here: a view becomes a `struct` without a body, and a view controller, a
// window or a scene becomes a `PresentationAnchor`. Nothing else differs.
import DeclaredAgeRange
import Foundation
import PermissionKit
import PermissionKitTesting
import Testing

/// A window, in the place of a view controller.
private struct ViewController: PresentationAnchor {
  let windowName = "Landmarks"
}

// MARK: Listings

private struct PhotoView {
  var photoSharingEnabled = false
  var message = ""
  let requestAgeRange = DeclaredAgeRangeAction(in: ViewController())

  mutating func requestAgeRangeHelper() async {
    do {
      let ageRangeResponse = try await requestAgeRange(ageGates: 16)
      switch ageRangeResponse {
      case .sharing(let range):
        if let lowerBound = range.lowerBound, lowerBound >= 16 {
          photoSharingEnabled = true
        }
        guard let ageRangeDeclaration = range.ageRangeDeclaration else { return }
        switch ageRangeDeclaration {
        case .selfDeclared: message = "self-declared"
        case .guardianDeclared: message = "guardian-declared"
        case .confirmed: message = "confirmed"
        default: message = "checked"
        }
        if range.activeParentalControls.contains(.communicationLimits) { message += ", limited" }
      case .declinedSharing: photoSharingEnabled = false
      }
    } catch AgeRangeService.Error.invalidRequest {
      message = "gates less than two years apart"
    } catch AgeRangeService.Error.notAvailable {
      message = "not available"
    } catch AgeRangeService.Error.declinedOnboarding, AgeRangeService.Error.invalidAccount {
      message = "finish the set-up of the account"
    } catch AgeRangeService.Error.network {
      message = "try again later"
    } catch {
      message = error.localizedDescription
    }
  }
}

private struct ListedChat {
  let participants: Set<CommunicationHandle>

  func isHidden() async -> Bool {
    let knownHandles = await CommunicationLimits.current.knownHandles(in: participants)
    return !knownHandles.isSuperset(of: participants)
  }
}

private func questionAboutTwoHandles() -> PermissionQuestion<CommunicationTopic> {
  PermissionQuestion(handles: [
    CommunicationHandle(value: "dragonslayer42", kind: .custom),
    CommunicationHandle(value: "progamer67", kind: .custom),
  ])
}

private func questionWithMetadata(
  name: PersonNameComponents, profilePicture: AvatarImage
) -> PermissionQuestion<CommunicationTopic> {
  let people = [
    PersonInformation(
      handle: CommunicationHandle(value: "dragonslayer42", kind: .custom), nameComponents: name,
      avatarImage: profilePicture),
    PersonInformation(handle: CommunicationHandle(value: "progamer67", kind: .custom)),
  ]
  var topic = CommunicationTopic(personInformation: people)
  topic.actions = [.message]
  return PermissionQuestion(communicationTopic: topic)
}

private struct Label: Hashable {
  let title: String
  let systemImage: String
  init(_ title: String, systemImage: String) {
    (self.title, self.systemImage) = (title, systemImage)
  }
}

private struct AskView {
  let question: PermissionQuestion<CommunicationTopic>
  let askPermission = AskPermissionAction(in: ViewController())

  var body: CommunicationLimitsButton<Label> {
    CommunicationLimitsButton(question: question) {
      Label("Ask Permission", systemImage: "paperplane")
    }
  }

  var newer: PermissionButton<CommunicationTopic, Label> {
    PermissionButton(question: question) { Label("Ask Permission", systemImage: "paperplane") }
  }

  func ask() async throws { try await askPermission(question) }
}

private final class ChatsView {
  var communicationLimitsUpdates: [PermissionResponse<CommunicationTopic>] = []

  func task() async {
    for await update in CommunicationLimits.current.updates {
      communicationLimitsUpdates.append(update)
      return
    }
  }
}

private final class SignificantChange {
  var results: [PermissionResult] = []
  let question = PermissionQuestion(
    significantAppUpdateTopic: SignificantAppUpdateTopic(description: "Chats with everybody"))
  let showSignificantUpdateAcknowledgment = SignificantUpdateAction(in: ViewController())

  var button: PermissionButton<SignificantAppUpdateTopic, Label> {
    PermissionButton(question: question, permissionFlow: .acknowledgmentAlert) { result in
      if case .success(let result) = result { self.results.append(result) }
    } label: {
      Label("Continue", systemImage: "checkmark")
    }
  }

  func obtainConsent() async throws -> PermissionResult? {
    let features = try await AgeRangeService.shared.requiredRegulatoryFeatures
    if features.contains(.significantAppChangeRequiresParentalConsent) {
      return try await AskCenter.shared.askSignificantChangePermission(
        for: question, permissionFlow: .acknowledgmentAlert, in: ViewController())
    }
    if features.contains(.significantAppChangeRequiresAdultNotification) {
      try await showSignificantUpdateAcknowledgment(updateDescription: "Chats with everybody")
    }
    return nil
  }

  func ratingHasRisen(since last: Int) async -> Bool {
    guard let ageRatingCode = await AppStore.ageRatingCode else { return false }
    return ageRatingCode > last
  }
}

// MARK: Tests

@Suite(.timeLimit(.minutes(10))) struct ListingTests {
  private let family = TestFamily()

  @Test("A7: the age listing compiles and behaves as the talk shows", arguments: [true, false])
  func age(isTeen: Bool) async throws {
    await family.sandbox(isTeen ? .teen14 : .adult42)
    try await family.app {
      var view = PhotoView()
      await view.requestAgeRangeHelper()
      #expect(view.photoSharingEnabled == !isTeen)
      #expect(family.child.promptWindows == ["Landmarks"])
    }
  }

  @Test(
    "A7, Q1: the listings of questions, buttons and updates compile and behave as the talk shows")
  func communication() async throws {
    family.organizer.will(.approve)
    try await family.app {
      let question = questionAboutTwoHandles()
      let chat = ListedChat(
        participants: Set(question.topic.personInformation.map(\.handle)))
      #expect(await chat.isHidden())
      let view = AskView(question: question)
      #expect(view.body.label == Label("Ask Permission", systemImage: "paperplane"))
      try await view.body.press(in: ViewController())
      let chats = ChatsView()
      await chats.task()
      #expect(chats.communicationLimitsUpdates.map(\.question.id) == [question.id])
      #expect(await !chat.isHidden())
      #expect(Set(family.child.promptWindows) == ["Landmarks"])
    }
  }

  @Test("A7: the newer button and the action ask as the older button does")
  func newer() async throws {
    try await family.app {
      try await AskView(question: PermissionQuestion(handle: .init(value: "a", kind: .custom)))
        .newer.press(in: ViewController())
      try await AskView(question: PermissionQuestion(handle: .init(value: "b", kind: .custom)))
        .ask()
      #expect(family.organizer.openQuestions.count == 2)
    }
  }

  @Test("Q3: the listing with metadata compiles")
  func metadata() {
    var name = PersonNameComponents()
    name.givenName = "Ada"
    let question = questionWithMetadata(
      name: name, profilePicture: AvatarImage(mediaType: "image/png", bytes: []))
    #expect(question.topic.actions == [.message])
    #expect(question.topic.personInformation.first?.nameComponents?.givenName == "Ada")
  }

  @Test("A7, Q11: the button of a significant update reports its flow's result or its error")
  func update() async throws {
    await family.organizer.setPasscode("258013")
    let change = SignificantChange()
    try await family.app {
      family.child.will(.cancel)
      try await change.button.press(in: ViewController())
      family.child.will(.approveInPerson(passcode: "258013"))
      try await change.button.press(in: ViewController())
      #expect(change.results == [.cancel, .approveInPerson(approved: true)])
    }
    // Without a device the error reaches the handler, so `press` does not throw.
    try await change.button.press(in: ViewController())
    #expect(change.results.count == 2)
  }

  @Test("D13: an app reads its own rating, and notices that it has risen")
  func rating() async throws {
    let change = SignificantChange()
    #expect(await AppStore.ageRatingCode == nil)
    try await family.app {
      #expect(await AppStore.ageRatingCode == nil)
      await family.installApp(rating: .nine)
      #expect(await AppStore.ageRatingCode == 9)
      #expect(await !change.ratingHasRisen(since: 9))
      await family.installApp(rating: .thirteen)
      #expect(await change.ratingHasRisen(since: 9))
    }
  }

  @Test("A7, D12: an adult acknowledges an update, a child asks the guardians")
  func acknowledgment() async throws {
    let change = SignificantChange()
    await family.sandbox(.teen14Texas)
    try await family.app {
      let result = try await change.obtainConsent()
      #expect(result == .askToApprove(didSend: true))
      await #expect(throws: AgeRangeService.Error.notAvailable) {
        try await change.showSignificantUpdateAcknowledgment(updateDescription: "Chats")
      }
    }
    let adult = TestFamily(isChild: false)
    try await adult.app {
      try await change.showSignificantUpdateAcknowledgment(updateDescription: "Chats")
      #expect(adult.child.promptWindows == ["Landmarks"])
    }
  }
}
