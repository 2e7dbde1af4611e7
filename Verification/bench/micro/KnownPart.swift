import FamilyModel
import Foundation

/// The query of an app before it shows a conversation: which of ten handles are known.
enum KnownPart {
  private static func handle(_ number: Int) -> Handle {
    switch number % 3 {
    case 0: Handle("+1555\(1_000_000 + number)", .phoneNumber)
    case 1: Handle("person-\(number)", .custom)
    default: Handle("person-\(number)@example.org", .emailAddress)
    }
  }

  static func part(count: Int) -> Part {
    let all = (0..<count).map(handle)
    let asked = (0..<10).map { all[$0 * (count / 10)] }
    let mine = HandleSet(all)
    let theirs = Set(all)
    return Part(
      name: "which of 10 handles are among \(count)", referenceName: "the same in a Set<Handle>",
      run: { keep(asked.filter { mine.contains($0.canonical) }) },
      reference: { keep(asked.filter { theirs.contains($0.canonical) }) })
  }

  /// The memory of a million known handles, in bytes.
  ///
  /// - Returns: The bytes of the handles' text (`own`) and the growth of this process (`taken`).
  static func memory() -> (own: Double, taken: Double) {
    func used() -> Double {
      let text = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? ""
      let pages = text.split(separator: " ").dropFirst().first.flatMap { Double($0) } ?? 0
      return pages * Double(sysconf(Int32(_SC_PAGESIZE)))
    }
    let before = used()
    var set = HandleSet()
    var own = 0
    for number in 0..<1_000_000 {
      let handle = handle(number)
      own += handle.value.utf8.count
      set.insert(handle)
    }
    let taken = used() - before
    keep(set.count)
    return (Double(own), taken)
  }
}
