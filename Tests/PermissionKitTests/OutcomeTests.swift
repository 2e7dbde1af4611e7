import Foundation
import PermissionKit
import PermissionKitTesting
import Testing

/// The outcome of a call: how a prompt ended, and why a question was rejected.
@Suite(.timeLimit(.minutes(10))) struct OutcomeTests {
  private let family = TestFamily()

  private func ask(_ handle: CommunicationHandle = ada) async throws -> AskResult {
    try await CommunicationLimits.current.askReportingResult(
      PermissionQuestion(handle: handle), in: Nowhere())
  }

  @Test("A1, A5: an ask reports whether the question was sent, repeated, cancelled or decided")
  func results() async throws {
    await family.organizer.setPasscode("258013")
    try await family.app {
      let question = PermissionQuestion(handle: ada)
      let first = try await CommunicationLimits.current.askReportingResult(
        question, in: Nowhere())
      #expect(first == .sent)
      #expect(try await ask() == .alreadyAsked(question: question.id))
      family.child.will(.cancel)
      #expect(try await ask(CommunicationHandle(value: "ben", kind: .custom)) == .cancelled)
      family.child.will(.approveInPerson(passcode: "258013"))
      let cleo = CommunicationHandle(value: "cleo", kind: .custom)
      #expect(try await ask(cleo) == .answeredInPerson(approved: true))
    }
  }

  @Test("Q8: an ask reports the default choice") func byDefault() async throws {
    try await TestFamily(isInFamily: false).app {
      let result = try await ask()
      #expect(result == .answeredByDefault)
    }
  }

  private func problem(of question: PermissionQuestion<CommunicationTopic>) async -> DeviceProblem?
  {
    do {
      try await CommunicationLimits.current.ask(question, in: Nowhere())
      return nil
    } catch AskError.invalidQuestion(let problem) {
      return problem
    } catch AskError.systemError(let error) {
      return error as? DeviceProblem
    } catch { return nil }
  }

  @Test("Q10: a rejected question names the number and the limit") func causes() async throws {
    try await family.app {
      func about(_ value: String) -> PermissionQuestion<CommunicationTopic> {
        PermissionQuestion(handle: CommunicationHandle(value: value, kind: .custom))
      }
      let noDefault = about("a")
      noDefault.choices = [.approve]
      let twice = about("a")
      twice.choices = [.decline, .decline]
      let past = about("a")
      past.expirationDate = family.now - 1
      var picture = PersonInformation(handle: ada)
      picture.avatarImage = AvatarImage(
        mediaType: "image/png", bytes: Array(repeating: 0, count: 70_000))
      let large = PermissionQuestion(
        communicationTopic: CommunicationTopic(personInformation: [picture]))
      picture.avatarImage = AvatarImage(mediaType: "text/html", bytes: [1])
      let html = PermissionQuestion(
        communicationTopic: CommunicationTopic(personInformation: [picture]))
      let many = PermissionQuestion(
        handles: (0..<40).map { CommunicationHandle(value: "\($0)", kind: .custom) })
      let causes: [(PermissionQuestion<CommunicationTopic>, Int, String)] = [
        (PermissionQuestion(handles: []), 300, "a handle"),
        (about(String(repeating: "a", count: 400)), 301, "320"), (noDefault, 302, "one of"),
        (twice, 303, "distinct"), (past, 304, "future"), (large, 305, "65536"),
        (many, 307, "32"), (html, 309, "PNG"),
      ]
      for (question, number, text) in causes {
        let problem = await problem(of: question)
        #expect(problem?.number == number)
        #expect(problem?.description.contains(text) == true, "\(number)")
      }
    }
  }

  @Test("R9, K1: an open app is notified of contacts and withdrawals") func changes() async throws {
    family.organizer.will(.approve)
    try await family.app {
      var changes = await CommunicationLimits.current.knownHandleChanges.makeAsyncIterator()
      _ = try await ask()
      let approved = try await changes.next()
      #expect(approved == [ada])
      await family.organizer.withdraw(ada)
      let withdrawn = try await changes.next()
      #expect(withdrawn == [ada])
      #expect(await !CommunicationLimits.current.isKnownHandle(ada))
      let phone = CommunicationHandle(value: "+1 555 0100", kind: .phoneNumber)
      await family.organizer.setContact(CommunicationHandle(value: "pa", kind: .custom))
      #expect(await !CommunicationLimits.current.isKnownHandle(phone))
      await family.organizer.setContact(phone)
      // The app has not named the contact “pa”.
      let added = try await changes.next()
      #expect(added == [CommunicationHandle(value: "+15550100", kind: .phoneNumber)])
    }
  }

  @Test("K1: a process is ready as soon as its device has delivered its entries")
  func ready() async throws {
    await family.organizer.setContact(ada)
    try await family.app {
      #expect(await CommunicationLimits.current.ready())
      #expect(await CommunicationLimits.current.isKnownHandle(ada))
    }
    #expect(await !CommunicationLimits.current.ready(within: .zero))
  }
}
