import Credentials
import Foundation
import Testing
import ZeroMQ

@testable import TerminalUI

/// The family's set-up at pseudoterminals, with real processes.
@Suite(.serialized, .timeLimit(.minutes(10))) struct LiveSetUpTests {
  private func play(_ body: (LiveFamily) async throws -> Void) async throws {
    let family = try LiveFamily()
    defer { family.stop() }
    try await body(family)
  }

  @Test("F8: a guardian's terminal guides through a child's set-up, which another one continues")
  func onboarding() async throws {
    try await play { family in
      let rosa = try await family.device("Rosa", columns: 80)
      let alex = try await family.device("Alex", columns: 80)
      for terminal in [rosa, alex] { try await terminal.wait(for: "Connected") }
      try await rosa.wait(for: "Rosa → Emily ›")
      // A device that is connected may not have read the family yet.
      try await alex.wait(for: "Alex → Emily ›")
      // A typed line ends catching up, so that later changes are news.
      alex.type("family")
      try await alex.wait(for: "child, devices: 3")
      rosa.type("onboard Mia")
      try await rosa.wait(for: "Set up Mia’s account")
      try await rosa.wait(for: "When was Mia born?")
      rosa.type("2016-02-29")
      try await rosa.wait(for: "[1] That Is Right [2] Change")
      rosa.type("1")
      try await rosa.wait(for: "May apps receive Mia’s age range?")
      rosa.type("")
      try await rosa.wait(for: "To continue, type “onboard Mia”.")
      try await alex.wait(for: "Mia was born on 2016-02-29.")
      alex.type("onboard mia")
      try await alex.wait(for: "May apps receive Mia’s age range?")
      alex.type("2")
      try await alex.wait(for: "Add Mia’s device now?")
      alex.type("1")
      try await alex.wait(for: "child-agent join")
      alex.type("add child mia")
      try await alex.wait(for: "The family already has a member named mia.")
    }
  }

  @Test("F9: the last device of the organizer stays; guardians see who left and the device says so")
  func removal() async throws {
    try await play { family in
      let rosa = try await family.device("Rosa", columns: 80)
      let alex = try await family.device("Alex", columns: 80)
      for terminal in [rosa, alex] { try await terminal.wait(for: "Connected") }
      try await rosa.wait(for: "Rosa → Emily ›")
      // A device that is connected may not have read the family yet.
      try await alex.wait(for: "Alex → Emily ›")
      // The typed lines also end catching up, so that the removal is news.
      rosa.type("remove device 1")
      try await rosa.wait(for: "This is the organizer’s last device.")
      rosa.type("remove member rosa")
      try await rosa.wait(for: "Rosa is the organizer and stays in the family.")
      rosa.type("age sometimes")
      try await rosa.wait(for: "This command is written as follows: age always|ask|never [APP]")
      alex.type("remove device 2")
      try await alex.wait(for: "You would remove this device.")
      alex.type("1")
      try await rosa.wait(for: "Alex’s device 2 is no longer in the family.")
      try await alex.wait(for: "This device doesn’t belong to the family.")
    }
  }

  @Test("M5: a terminal without a relay, or with another relay's key, says so at its start")
  func noRelay() async throws {
    try await play { family in
      let file = URL(fileURLWithPath: family.file("keys/family-1-Rosa-1.json"))
      var wrong = try Credential.read(from: file)
      wrong.relayKey = try CurveKeyPair.generate().publicKey
      let other = family.file("wrong.json")
      try wrong.write(to: URL(fileURLWithPath: other))
      let lost = try await family.device("Lost", columns: 80, credential: other)
      try await lost.wait(for: "This device belongs to another relay.")
      family.stopRelay()
      let rosa = try await family.device("Rosa", columns: 80)
      try await rosa.wait(for: "Not connected. Messages will be sent later.")
    }
  }

  @Test(
    "F7, Q8, D11: an adult in no family sets the own account, and a child's app gets the default")
  func alone() async throws {
    try await play { family in
      family.stopRelay()
      for (kind, name) in [("adult", "Ann"), ("child", "Kim")] {
        try family.run("relayctl", "add-person", kind, name, "--credentials", family.file("keys"))
      }
      func device(_ name: String) async throws -> PseudoTerminal {
        let file = family.file("keys/family-0-\(name)-1.json")
        return try await family.device(
          name, columns: 80, credential: file, isChild: true,
          declaresAges: true)
      }
      let ann = try await device("Ann")
      try await ann.wait(for: "You are Ann.")
      ann.type("birthdate 2035-05-17")
      try await ann.wait(for: "“2035-05-17” is not a day in the past.")
      ann.type("birthdate 1990-05-17 FR")
      try await ann.wait(for: "Ann was born on 1990-05-17.")
      ann.type("age always")
      let app = family.file("Ann/app-0-1-example.landmarks.json")
      var photos = ""
      for _ in 0..<50 where !photos.contains("photo sharing is on") {
        photos = try family.app(["photos"], credential: app)
      }
      #expect(photos.contains("age range 16 or older, selfDeclared"), "\(photos)")
      #expect(!ann.text.contains("Not connected"))

      let kim = try await device("Kim")
      try await kim.wait(for: "You are Kim.")
      let asked = try family.app(
        ["ask", "--handle", "ada"], credential: family.file("Kim/app-0-2-example.landmarks.json"))
      #expect(asked.contains("asked: "), "\(asked)")
      #expect(!kim.text.contains("Ask by Message"), "the default choice needs no prompt")
    }
  }
}
