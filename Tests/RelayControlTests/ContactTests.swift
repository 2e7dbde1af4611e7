import FamilyModel
import Foundation
import Testing

@testable import relayctl

@Suite struct VCardTests {
  private func read(_ text: String) throws -> VCardFile { try VCardFile(Data(text.utf8)) }

  @Test("K1: reads names, numbers and addresses of both versions")
  func reads() throws {
    let file = try read(
      """
      BEGIN:VCARD\r
      VERSION:3.0\r
      N:Lovelace;Ada;;;\r
      FN:Ada Love\r
       lace\\, Countess\r
      TEL;TYPE="home,voice";PREF=1:+1 (555) 010-0199\r
      item1.EMAIL;TYPE=INTERNET:Ada@Example.org\r
      PHOTO;ENCODING=b:\(String(repeating: "A", count: 10_000))\r
      END:VCARD\r
      begin:vcard
      version:4.0
      N:Lee;Ann;;;
      TEL;VALUE=uri;TYPE="voice":tel:+33-1-23-45-67-89;ext=5
      EMAIL:mailto:ann@example.org
      EMAIL:ADA@example.org
      end:vcard

      """)
    #expect(file.errors == [])
    #expect(
      file.contacts.map(\.handle.canonical.value)
        == ["+15550100199", "ada@example.org", "+33123456789", "ann@example.org"])
    #expect(
      file.contacts.map(\.name)
        == ["Ada Lovelace, Countess", "Ada Lovelace, Countess", "Ann Lee", "Ann Lee"])
  }

  @Test("K1: reports each line that it cannot use, with its number, and reads the others")
  func errors() throws {
    let file = try read(
      """
      BEGIN:VCARD
      VERSION:3.0
      FN:Ada
      TEL:hello
      EMAIL:nobody
      TEL:+15550100
      NOTE:\u{1B}[2J
      END:VCARD
      BEGIN:VCARD
      VERSION:2.1
      TEL:+15550101
      END:VCARD
      BEGIN:VCARD
      VERSION:4.0
      FN;ENCODING=QUOTED-PRINTABLE:Ad=C3=A9
      FN:\(String(repeating: "x", count: 300))
      TEL:\(String(repeating: "1", count: 5_000))
      END:VCARD
      END:VCARD
      BEGIN:VCARD
      """)
    #expect(file.contacts.map(\.handle.value) == ["+15550100"])
    #expect(file.errors.map(\.line) == [4, 5, 10, 15, 16, 17, 19, 1])
    #expect(file.errors[0].reason == "'hello': problem 320: not a handle of its kind")
    #expect(file.errors[2].reason.contains("2.1"))
  }

  @Test("K1: bounds the file and its contacts, and refuses a file of another kind")
  func limits() throws {
    func cards(_ count: Int) -> String {
      (0..<count).map { "BEGIN:VCARD\nVERSION:3.0\nTEL:\(10_000 + $0)\nEND:VCARD\n" }.joined()
    }
    #expect(try read(cards(VCardFile.maximumContacts)).contacts.count == VCardFile.maximumContacts)
    #expect(throws: ControlError.self) { try read(cards(VCardFile.maximumContacts + 1)) }
    #expect(throws: ControlError.self) {
      try VCardFile(Data(count: VCardFile.maximumBytes + 1))
    }
    #expect(throws: ControlError.self) { try read("name,phone\nAda,1") }
    #expect(throws: ControlError.self) { try read("") }
  }

  @Test("K1: any bytes are read without a trap")
  func fuzz() {
    var source = IDSource(seed: 5)
    let pieces = [
      "BEGIN:VCARD\n", "END:VCARD\n", "VERSION:3.0\n", "TEL:", "FN:", "N:;;\\", ":", ";", "\"",
      "\n", "\r\n", " ", "\u{0}", "+1555", "é", "\\n", ".", "item.", "EMAIL;X=\"a:b\":",
    ]
    for _ in 0..<5_000 {
      var data = Data()
      for _ in 0..<(source.next() % 20) {
        data += Data(pieces[Int(source.next() % UInt64(pieces.count))].utf8)
        if source.next() % 8 == 0 { data.append(UInt8(truncatingIfNeeded: source.next())) }
      }
      _ = try? VCardFile(data)
    }
  }
}

@Suite struct ContactTests {
  @Test("K1: a guardian imports and names contacts, once", .timeLimit(.minutes(10)))
  func imports() async throws {
    try await RelayControlFixture.with { fixture in
      let rosa = fixture.file("Rosa")
      let file = fixture.folder.appendingPathComponent("contacts.vcf")
      let good = """
        BEGIN:VCARD
        VERSION:4.0
        FN:Grandma
        TEL:+1 555 010 0199
        EMAIL:Grandma@Example.org
        END:VCARD

        """
      let bad = "BEGIN:VCARD\nVERSION:3.0\nTEL:hello\nEND:VCARD\n"
      try Data((good + bad).utf8).write(to: file)
      try await fixture.mustFail(
        "contact", "import", file.path, "--as", rosa,
        expecting: ["line 9: 'hello': problem 320", "Nothing was imported", "--skip-errors"])
      #expect(try await fixture.must("known", "--as", rosa).output == "No handle is known yet.\n")
      let skipped = try await fixture.must(
        "contact", "import", file.path, "--skip-errors", "--child", "Emily", "--as", rosa)
      #expect(skipped.output.contains("line 9"))
      #expect(skipped.output.contains("Imported 2 contacts for Emily, 2 of them new."))
      try Data(good.utf8).write(to: file)
      let again = try await fixture.must("contact", "import", file.path, "--as", rosa)
      #expect(again.output.contains("Imported 2 contacts for Emily, 0 of them new."))
      let known = try await fixture.must("known", "--as", rosa, "--json").objects
      #expect(known.map { $0["name"] as? String } == ["Grandma", "Grandma"])
      #expect(known.map { $0["handle"] as? String } == ["+15550100199", "grandma@example.org"])
      let named = try await fixture.must(
        "contact", "add", "--kind", "phone", "+15550100199", "--name", "Granny", "--as", rosa)
      #expect(named.output.contains("already on Emily's list of contacts as Granny"))
      #expect(try await fixture.must("known", "--as", rosa).output.contains("Granny"))
      try await fixture.mustFail(
        "contact", "import", "/nowhere.vcf", "--as", rosa, expecting: ["Cannot read"])
      try await fixture.mustFail(
        "contact", "add", "--kind", "phone", "hello", "--as", rosa,
        expecting: ["problem 320", "A phone number has 2 to 20 digits"])
    }
  }

  @Test("X6: explain names the rule, the guardian and the near miss", .timeLimit(.minutes(10)))
  func explains() async throws {
    try await RelayControlFixture.with { fixture in
      let (rosa, alex) = (fixture.file("Rosa"), fixture.file("Alex"))
      let app = ["--app", "example.landmarks"]
      func explain(_ arguments: String...) async throws -> Outcome {
        let outcome = try await fixture.run(["explain"] + arguments + app + ["--as", rosa])
        #expect(outcome.isSuccess, "\(outcome.error)")
        return outcome
      }
      #expect(try await explain("ada").output.contains("No request is about this contact"))
      let id = try fixture.ask(Handle("ada", .custom))
      #expect(try await explain("ada").output.contains("waiting for an answer since"))
      try await fixture.must("answer", id, "decline", "--as", alex)
      let declined = try await explain("ada", "--json").objects
      #expect(declined[0]["rule"] as? String == "declined")
      #expect(declined[0]["by"] as? String == "Alex" && declined[0]["known"] as? Bool == false)
      let phone = try fixture.ask(Handle("+15550100199", .phoneNumber))
      try await fixture.must("answer", phone, "approve", "--as", rosa)
      let miss = try await explain("15550100199")
      #expect(miss.output.contains("“+15550100199” is known; it is a different contact."))
      #expect(try await explain("+1 555 010 0199").output.contains("Rosa approved it"))
      let number = try await fixture.must("explain", "411")
      #expect(number.output.contains("problem 411"))
      try await fixture.mustFail("explain", "ada", expecting: ["--as"])
      try await fixture.mustFail(
        "explain", "ada", "--as", fixture.file("Emily"), expecting: ["guardian's"])
    }
  }
}
