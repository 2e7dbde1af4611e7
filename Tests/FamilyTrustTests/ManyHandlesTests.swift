import FamilyCore
import FamilyModel
import RelayWire
import Testing

/// Entries about many handles at once, each with its evidence.
@Suite struct ManyHandlesTests {
  @Test("X2: the entries about many handles fit into messages and records") func entries() throws {
    var home = SignedFamily()
    let handles = (0..<Limits.namesInMessage).map { Handle("+1555\(1_000 + $0)", .phoneNumber) }
    for handle in handles {
      // Two statements: among the contacts, and approved.
      home.guardian(
        1, .changeContact(child: SignedFamily.emily, handle, known: true))
      let question = home.ask(handles: [handle], on: 4)
      home.answer(question, "approve")
    }
    home.app(3, .name(handles))
    let known = home.apps[3]!.known
    #expect(handles.allSatisfy { known.contains($0.canonical) })
    for (key, record) in home.machines.disks[3] ?? [:] {
      #expect(try DeviceRecord.decode(key: key.bytes, value: record.value) == record)
    }
    #expect(home.appProblems[3] == nil)
    home.restore(3)
    home.connect(3)
    #expect(handles.allSatisfy { home.apps[3]!.known.contains($0.canonical) })
  }
}
