import FamilyModel
import Foundation
import Testing

/// Handles that people read alike, and that are therefore one handle.
private let alike: [(Handle.Kind, [String])] = [
  (.custom, ["Zo\u{EB}", "Zoe\u{308}"]),
  (.custom, ["\u{1EBF}", "\u{EA}\u{301}", "e\u{302}\u{301}"]),
  // Marks of different classes, in either order.
  (.custom, ["q\u{307}\u{323}", "q\u{323}\u{307}"]),
  (.custom, ["\u{D55C}", "\u{1112}\u{1161}\u{11AB}", "\u{D558}\u{11AB}"]),
  (.custom, ["\u{C5}", "\u{212B}", "A\u{30A}"]),
  (.emailAddress, ["ada@example.org", "Ada@EXAMPLE.org"]),
  (.emailAddress, ["z@b\u{FC}cher.example", "Z@BU\u{308}CHER.example", "z@B\u{DC}CHER.example"]),
  (
    .phoneNumber,
    [
      "+15550100199", "+1 (555) 010-0199", "+1.555.010.0199", "+1\u{A0}555\u{2011}010\u{2013}0199",
      "\u{202A}+15550100199\u{202C}", "\u{FF0B}\u{FF11}5550100199", "+١٥٥٥٠١٠٠١٩٩",
      "+1/555/0100199", "+1 555 010\u{2212}0199",
    ]
  ),
]

/// Handles that are different people's, however close.
private let apart: [(Handle.Kind, [String])] = [
  (.custom, ["ada", "Ada", "\u{FF41}da", "ad\u{430}", "ada\u{200D}"]),
  (.custom, ["\u{FB01}", "fi"]),
  (.phoneNumber, ["+15550100199", "15550100199", "0015550100199"]),
  (.emailAddress, ["ada@example.org", "ada@example.com", "ada+1@example.org"]),
]

/// Random texts of characters that compose, decompose and reorder.
private func randomText(_ source: inout IDSource) -> String {
  let scalars: [Unicode.Scalar] = [
    "a", "E", "q", " ", "\u{301}", "\u{323}", "\u{307}", "\u{345}", "\u{130}", "\u{DF}",
    // Foundation does not compose U+AC00 and U+11AB, so that the comparison leaves U+AC00 out.
    "\u{1112}", "\u{1161}", "\u{11AB}", "\u{AC01}", "\u{212B}", "\u{2126}", "\u{958}", "\u{F71}",
    "\u{FB01}", "\u{1F600}", "\u{3B1}", "\u{1FBE}", "7", "+", "-",
  ]
  var text = String.UnicodeScalarView()
  for _ in 0..<(source.next() % 9) { text.append(scalars[Int(source.next() % 25)]) }
  return String(text)
}

/// The first random pair or listed group that a comparison treats wrongly; `nil` if it holds.
private func counterexample(to canonical: (Handle) -> Handle) -> String? {
  func bytes(_ handle: Handle) -> [UInt8] { Array(canonical(handle).value.utf8) }
  for (kind, texts) in alike where Set(texts.map { bytes(Handle($0, kind)) }).count != 1 {
    return "alike: \(texts)"
  }
  for (kind, texts) in apart where Set(texts.map { bytes(Handle($0, kind)) }).count != texts.count {
    return "apart: \(texts)"
  }
  var source = IDSource(seed: 11)
  for _ in 0..<3_000 {
    let text = randomText(&source)
    for kind in Handle.Kind.allCases {
      let handle = Handle(text, kind)
      let forms = [
        text.decomposedStringWithCanonicalMapping, text.precomposedStringWithCanonicalMapping,
      ].map { bytes(Handle($0, kind)) }
      guard forms == [bytes(handle), bytes(handle)] else {
        return "forms of \(text.debugDescription)"
      }
      let again = bytes(canonical(handle))
      guard again == bytes(handle) else { return "not stable: \(text.debugDescription)" }
      if kind == .custom, again != Array(text.precomposedStringWithCanonicalMapping.utf8) {
        return "not Foundation's form: \(text.debugDescription)"
      }
    }
  }
  return nil
}

@Suite struct HandleTests {
  @Test("K1: handles that look alike have one canonical form, in bytes; others differ")
  func canonical() { #expect(counterexample { $0.canonical } == nil) }

  @Test("K1: a comparison without normalization, or with too much of it, is found")
  func mutants() {
    #expect(counterexample { $0 } != nil)
    #expect(counterexample { Handle($0.value.lowercased(), $0.kind) } != nil)
    #expect(
      counterexample { handle in
        guard handle.kind == .custom else { return handle.canonical }
        return Handle(handle.value.decomposedStringWithCanonicalMapping, .custom)
      } != nil)
    #expect(
      counterexample { handle in
        guard handle.kind == .custom else { return handle.canonical }
        return Handle(handle.value.precomposedStringWithCompatibilityMapping, .custom)
      } != nil)
    #expect(
      counterexample { handle in
        guard handle.kind == .emailAddress else { return handle.canonical }
        return Handle(handle.value.lowercased(), .emailAddress)
      } != nil)
  }

  @Test("K1: equal canonical forms are equal in a set of handles")
  func sets() {
    for (kind, texts) in alike {
      let set = HandleSet([Handle(texts[0], kind).canonical])
      for text in texts { #expect(set.contains(Handle(text, kind).canonical)) }
    }
  }

  @Test(
    "Q10: refuses a handle that is not of its kind with its number",
    arguments: [
      ("hello", .phoneNumber), ("+", .phoneNumber), ("1", .phoneNumber), ("1+555", .phoneNumber),
      ("++1555", .phoneNumber), ("1-800-FLOWERS", .phoneNumber), ("+1555\n0100", .phoneNumber),
      (String(repeating: "1", count: 21), .phoneNumber),
      ("not an email", .emailAddress), ("ada", .emailAddress), ("@example.org", .emailAddress),
      ("ada@", .emailAddress), ("a@b@c", .emailAddress), ("ada@example..org", .emailAddress),
      ("ada @example.org", .emailAddress), ("ada@example.org\n", .emailAddress),
      ("ada\u{1B}[2J", .custom), ("ada\nbob", .custom), ("ada\u{2028}", .custom),
      ("ada\u{202E}bob", .custom), ("ada\u{0}", .custom), ("ada\u{9B}", .custom),
    ] as [(String, Handle.Kind)])
  func refuses(_ text: String, _ kind: Handle.Kind) {
    #expect(throws: Problem.badHandle) { try Handle(text, kind).validate() }
  }

  @Test(
    "Q2: accepts the usual forms of each kind",
    arguments: [
      ("+15550100199", .phoneNumber), ("110", .phoneNumber), ("*21#", .phoneNumber),
      ("\u{202A}+1 555 0100\u{202C}", .phoneNumber),
      (String(repeating: "1", count: 20), .phoneNumber),
      ("ada@example.org", .emailAddress), ("root@localhost", .emailAddress),
      ("ada+games@b\u{FC}cher.example", .emailAddress),
      ("ada", .custom), ("Ada Lovelace", .custom), ("\u{1F469}\u{200D}\u{1F680}", .custom),
      ("\u{645}\u{6CC}\u{200C}\u{62E}\u{648}", .custom),
    ] as [(String, Handle.Kind)])
  func accepts(_ text: String, _ kind: Handle.Kind) throws { try Handle(text, kind).validate() }

  @Test("a handle's limit counts the canonical form, which may be longer than the text")
  func limit() throws {
    // U+0958 has three bytes and decomposes into six.
    let text = String(repeating: "\u{958}", count: 53)
    try Handle(text, .custom).validate()
    #expect(throws: Problem.handleTooLong) { try Handle(text + "\u{958}", .custom).validate() }
  }
}
