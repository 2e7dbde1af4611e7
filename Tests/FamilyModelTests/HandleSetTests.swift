import FamilyModel
import Testing

@Suite struct HandleSetTests {
  @Test("K1: random insertions and removals agree with the standard library's Set")
  func random() {
    var source = IDSource(seed: 7)
    var (mine, theirs) = (HandleSet(), Set<Handle>())
    for number in 0..<60_000 {
      let text = String(repeating: "x", count: Int(source.next() % 40)) + "\(source.next() % 3_000)"
      let handle = Handle(text, Handle.Kind.allCases[Int(source.next() % 3)])
      // Alternates between growth and shrinkage.
      if source.next() % 4 < (number / 10_000 % 2 == 0 ? 3 : 1) {
        #expect(mine.insert(handle) == theirs.insert(handle).inserted)
      } else {
        #expect(mine.remove(handle) == (theirs.remove(handle) != nil))
      }
      if number % 5_000 == 0 { #expect(mine.sorted() == theirs.sorted()) }
      #expect(mine.contains(handle) == theirs.contains(handle))
    }
    #expect(mine.count == theirs.count)
    #expect(mine == HandleSet(theirs))
    mine.insert(Handle("one more", .custom))
    #expect(mine != HandleSet(theirs))
  }

  @Test("distinguishes empty handles, handles of the maximum length, and kinds")
  func edges() {
    let long = String(repeating: "é", count: Limits.handleBytes)
    let handles = ["", "a", long, long + "b"].flatMap { text in
      Handle.Kind.allCases.map { Handle(text, $0) }
    }
    var set = HandleSet(handles)
    #expect(set.count == handles.count && set.sorted() == handles.sorted())
    for handle in handles { #expect(set.contains(handle) && set.remove(handle)) }
    #expect(set.isEmpty && set == [])
  }

  @Test("a change of one copy leaves the other unchanged")
  func copies() {
    var set = HandleSet((0..<5_000).map { Handle("person-\($0)", .custom) })
    let copy = set
    for number in 0..<5_000 { set.remove(Handle("person-\(number)", .custom)) }
    set.insert(Handle("new", .custom))
    #expect(copy.count == 5_000 && set.count == 1)
    #expect(copy.contains(Handle("person-4999", .custom)) && !copy.contains(Handle("new", .custom)))
  }
}
