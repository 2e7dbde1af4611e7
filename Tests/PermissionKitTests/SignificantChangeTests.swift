import Foundation
import PermissionKit
import PermissionKitTesting
import Testing

@Suite(.timeLimit(.minutes(10))) struct SignificantChangeTests {
  private let family = TestFamily()
  /// An update of its own for each question: an open question is not asked twice.
  private var topic: SignificantAppUpdateTopic {
    SignificantAppUpdateTopic(description: "There are chats now: \(UUID().uuidString)")
  }

  private func ask(_ flow: PermissionFlow) async throws -> PermissionResult {
    try await AskCenter.shared.askSignificantChangePermission(
      for: PermissionQuestion(significantAppUpdateTopic: topic), permissionFlow: flow, in: Nowhere()
    )
  }

  private func expect(_ result: PermissionResult, of flow: PermissionFlow) async throws {
    #expect(try await ask(flow) == result)
  }

  @Test("Q5: each permission flow returns its results")
  func flows() async throws {
    await family.organizer.setPasscode("258013")
    try await family.app {
      try await expect(.askToApprove(didSend: true), of: .askToApprove)
      family.child.will(.approveInPerson(passcode: "258013"))
      try await expect(.approveInPerson(approved: true), of: .approveInPerson)
      family.child.will(.approveInPerson(passcode: "258013", choice: "decline"))
      try await expect(.approveInPerson(approved: false), of: .approveInPerson)
      family.child.will(.cancel)
      for flow in [PermissionFlow.askToApprove, .approveInPerson, .acknowledgmentAlert] {
        try await expect(.cancel, of: flow)
      }
    }
  }

  @Test("Q11: the alert leads to the chosen path, and its own buttons approve nothing")
  func alert() async throws {
    await family.organizer.setPasscode("258013")
    await family.organizer.setLimits(on: false)
    try await family.app {
      family.child.will(.askByMessage)
      try await expect(.askToApprove(didSend: true), of: .acknowledgmentAlert)
    }
    let other = TestFamily()
    await other.organizer.setPasscode("258013")
    try await other.app {
      other.child.will(.approveInPerson(passcode: "111111"))
      try await expect(.cancel, of: .acknowledgmentAlert)
      other.child.will(.approveInPerson(passcode: "258013"))
      try await expect(.approveInPerson(approved: true), of: .acknowledgmentAlert)
    }
  }

  @Test("Q11: the response has the identifier of the question that the app asked")
  func identifier() async throws {
    family.organizer.will(.approve)
    try await family.app {
      let question = PermissionQuestion(significantAppUpdateTopic: topic)
      let result = try await AskCenter.shared.askSignificantChangePermission(
        for: question, permissionFlow: .askToApprove, in: Nowhere())
      #expect(result == .askToApprove(didSend: true))
      var responses = AskCenter.shared.responses(for: SignificantAppUpdateTopic.self)
        .makeAsyncIterator()
      let response = try await responses.next()
      #expect(response?.question.id == question.id)
      #expect(response?.choice == .approve)
    }
  }

  @Test("Q11, F7: without a family an update gets a denying default, and no approving one")
  func nobody() async throws {
    let alone = TestFamily(isInFamily: false)
    try await alone.app {
      try await expect(.askToApprove(didSend: false), of: .askToApprove)
      let question = PermissionQuestion(significantAppUpdateTopic: topic)
      question.defaultChoice = .approve
      await #expect(throws: AskError.self) {
        _ = try await AskCenter.shared.askSignificantChangePermission(
          for: question, permissionFlow: .acknowledgmentAlert, in: Nowhere())
      }
    }
  }

  @Test("Q9, Q11: an adult cannot ask about an update") func adult() async throws {
    let adult = TestFamily(isChild: false)
    try await adult.app {
      await #expect(throws: AskError.self) { _ = try await ask(.acknowledgmentAlert) }
    }
  }

  @Test("A4: approving in person throws without a passcode") func noPasscode() async throws {
    try await family.app {
      await #expect(throws: AskError.self) { _ = try await ask(.approveInPerson) }
    }
  }
}
