import FamilyModel
import FamilyTrust
import Testing

@testable import FamilyCore

/// The ends of approvals, against a dishonest relay and a dishonest device.
@Suite struct EndingTrustTests {
  private static let hour = Choice(
    id: "hour", title: "For an hour", answer: .approval, end: .after(.hours(1)))
  private let ada = Handle("ada", .custom)

  private func approved(_ prepare: (inout SignedFamily) -> Void = { _ in }) -> SignedFamily {
    var home = SignedFamily()
    prepare(&home)
    home.answer(home.ask(handles: [ada], choices: [Self.hour, .decline]), "hour")
    return home
  }

  @Test("Q12, X3: an app verifies the end of an approval, and forgets the handle at the end")
  func honest() {
    var home = approved()
    let end = home.now + .hours(1)
    #expect(home.apps[3]!.ends == [ada: end] && home.apps[4]!.ends == [ada: end])
    home.startApp(on: 3)
    #expect(home.known() == ["ada"] && home.apps[3]!.ends == [ada: end])
    home.wait(.minutes(61))
    #expect(home.known() == [] && home.known(4) == [] && home.apps[3]!.ends == [:])
    #expect(home.appProblems == [:] && home.reported == [:])
    home.startApp(on: 3)
    #expect(home.known() == [])
    home.appDisks[3] = [:]
    home.startApp(on: 3)
    #expect(home.known() == [] && home.appProblems == [:])
  }

  @Test("Q12, X3: a relay that dates a decision later does not lengthen the approval")
  func relay() {
    var home = approved { home in
      home.tamper = { event, _ in
        var event = event
        if case .decided = event.body { event.at = event.at + .days(365) }
        return [event]
      }
    }
    #expect(home.known() == ["ada"])
    home.wait(.minutes(61))
    #expect(home.known() == [] && home.children[3]!.knownHandles(in: SignedFamily.app).isEmpty)
  }

  @Test("Q12, X3: an app rejects an end that the guardian did not sign") func device() {
    let home = approved()
    let entry = home.toldEntries.last!
    guard case .response(var question, _) = entry.body else {
      Issue.record("no response")
      return
    }
    let longer = Choice(
      id: "hour", title: "For an hour", answer: .approval, end: .after(.days(1)))
    question.choices[0] = longer
    var edits = [entry, entry, entry]
    edits[0].body = .response(question, longer)
    let item = edits[1].evidence[0].tags!.items.firstIndex { $0.item.isEnd }!
    edits[1].evidence[0].tags!.items[item].item = ChoiceEnd.after(.days(1)).item(ofChoice: 0)
    edits[2].evidence[0].tags!.items.remove(at: item)
    for (index, edit) in edits.enumerated() {
      var copy = home
      var edit = edit
      edit.position += 1
      copy.tell(.entry(edit), 3)
      #expect(copy.appProblems[3] == [.contradiction], "\(index)")
      #expect(copy.apps[3]!.ends == home.apps[3]!.ends, "\(index)")
    }
  }
}
