import FamilyModel
import Testing

private func day(_ text: String) -> Account.Day { Account.Day(iso: text)! }

/// The requirements for an account made on that day, by default on the day itself.
private func law(_ code: String, _ on: String, made: String? = nil) -> Region {
  RegionTable.standard.region(code, accountMade: day(made ?? on), on: day(on))
}

private let header = RegionTable.columns.joined(separator: ",")

private func table(_ lines: String...) throws -> RegionTable {
  try RegionTable(csv: Array(([header] + lines).joined(separator: "\n").utf8))
}

private let all: RegulatoryFeatures = [
  .declaredAgeRangeRequired, .significantAppChangeRequiresParentalConsent,
  .significantAppChangeRequiresAdultNotification,
]

@Suite struct RegionTableTests {
  @Test(
    "D2: ages of majority differ by region",
    arguments: [
      ("US", 18), ("US-AL", 19), ("US-NE", 19), ("US-MS", 21), ("US-NY", 18), ("PR", 21),
      ("US-PR", 21), ("CA-ON", 18), ("CA-BC", 19), ("CA-YT", 19), ("GB", 18), ("GB-SCT", 18),
      ("DZ", 19), ("KR", 19), ("TH", 20), ("NZ", 20), ("SG", 21), ("EG", 21), ("ID", 21),
      ("BH", 21), ("JP", 18), ("SA", 18), ("HN", 18), ("XX", 18), ("", 18), ("XX-YY", 18),
      ("-", 18), ("us", 18), ("🇫🇷", 18),
    ] as [(String, Int32)])
  func majority(_ code: String, _ majority: Int32) {
    #expect(law(code, "2026-11-22").majority == majority)
  }

  @Test("D2: an age of majority changes on its day") func majorityFrom() {
    #expect(law("AE", "2026-05-31").majority == 21)
    #expect(law("AE", "2026-06-01").majority == 18)
  }

  @Test("D2: each line has a source, each majority its statute, and none is below 18")
  func sources() {
    #expect(RegionTable.standard.lines.count > 40)
    for line in RegionTable.standard.lines {
      #expect(!line.source.isEmpty, "\(line.code)")
      #expect(line.majority == nil || !line.majorityStatute.isEmpty, "\(line.code)")
      #expect(line.majority ?? 18 >= 18 && line.majorityBefore ?? 18 >= 18, "\(line.code)")
      #expect(line.minorBelow ?? 18 == 18, "\(line.code)")
      #expect(!line.source.contains("memory"), "\(line.code)")
    }
  }

  @Test("D12: a region without a line takes its country's values, and an alias those of its region")
  func aliases() throws {
    #expect(law("US-NY", "2027-06-01") == law("US", "2027-06-01"))
    #expect(law("US-PR", "2027-06-01") == law("PR", "2027-06-01"))
    #expect(law("US-PR", "2027-06-01") != law("US", "2027-06-01"))
    let federal = try table(
      "US,,,,,,Federal Act,,,2027-01-01,,,13 16 18,high,source",
      "US-AL,,19,,,Code,Act,17,,,2027-01-01,,,high,source")
    let region = federal.region("US-AL", accountMade: day("2027-01-01"), on: day("2027-01-01"))
    #expect(
      region
        == Region(
          majority: 19, minorBelow: 17, isEligible: true,
          features: [.declaredAgeRangeRequired, .significantAppChangeRequiresParentalConsent],
          gates: [13, 16, 18]))
  }

  @Test(
    "D12: a law applies from its day on, and not the day before",
    arguments: [
      ("US-UT", "2027-05-05", "2027-05-06", all), ("US-LA", "2027-06-30", "2027-07-01", all),
      ("US-AL", "2026-12-31", "2027-01-01", all),
      (
        "US-TX", "2026-06-03", "2026-06-04",
        all.subtracting(.significantAppChangeRequiresAdultNotification)
      ),
      ("US-CA", "2026-12-31", "2027-01-01", .declaredAgeRangeRequired),
      ("US-IL", "2027-12-31", "2028-01-01", .declaredAgeRangeRequired),
      ("US-CO", "2028-06-30", "2028-07-01", .declaredAgeRangeRequired),
    ] as [(String, String, String, RegulatoryFeatures)])
  func begins(_ code: String, _ before: String, _ on: String, _ features: RegulatoryFeatures) {
    // The same account on two days.
    #expect(law(code, before, made: on).features.isEmpty)
    #expect(!law(code, before, made: on).isEligible && law(code, before, made: on).gates.isEmpty)
    let region = law(code, on)
    #expect(region.features == features && region.isEligible && region.mustShare)
    #expect(region.gates == [13, 16, 18] && region.minorBelow == 18)
    #expect(
      RegionTable.standard.nextChange(of: code, accountMade: day(on), after: day(before))
        == day(on))
    #expect(
      RegionTable.standard.nextChange(of: code, accountMade: day(on), after: day(on)) == nil)
  }

  @Test("D12: a law covers accounts by the day on which they were made") func accounts() {
    // Texas, Utah: only new accounts.
    #expect(law("US-TX", "2026-11-22", made: "2026-06-03") == Region())
    #expect(law("US-UT", "2030-01-01", made: "2027-05-05") == Region())
    // Alabama and California: older ones later.
    #expect(law("US-AL", "2027-09-30", made: "2026-01-01").features.isEmpty)
    #expect(law("US-AL", "2027-10-01", made: "2026-01-01").features == all)
    #expect(!law("US-CA", "2027-06-30", made: "2026-01-01").mustShare)
    #expect(law("US-CA", "2027-07-01", made: "2026-01-01").mustShare)
  }

  @Test("D12: a region may be eligible without a duty", arguments: ["BR", "AU", "SG"])
  func eligible(_ code: String) {
    let region = law(code, "2026-11-22", made: "2020-01-01")
    #expect(region.isEligible && region.features.isEmpty && region.gates.isEmpty)
    #expect(!law(code, "2026-02-23").isEligible)
    #expect(!law("FR", "2026-11-22").isEligible)
  }

  @Test("D12: a period may end, and begin again") func interval() throws {
    let stayed = try table(
      "US-TX,,,,,,Act,,,2026-01-01..2026-02-01@2025-01-01 2026-06-04,,,13 16 18,high,source")
    func must(_ on: String, _ made: String) -> Bool {
      stayed.region("US-TX", accountMade: day(made), on: day(on)).mustShare
    }
    #expect(must("2026-01-31", "2025-06-01") && !must("2026-01-31", "2024-06-01"))
    #expect(!must("2026-02-01", "2025-06-01") && !must("2026-06-03", "2025-06-01"))
    #expect(must("2026-06-04", "2024-06-01"))
    var changes: [String] = []
    var last = day("2025-01-01")
    while let next = stayed.nextChange(of: "US-TX", accountMade: day("2025-06-01"), after: last) {
      changes.append(next.iso)
      last = next
    }
    #expect(changes == ["2026-01-01", "2026-02-01", "2026-06-04"])
  }

  @Test("D12: reads values in quotation marks, comments and Windows line ends") func form() throws {
    let table = try RegionTable(
      csv: Array(
        ("# comment\r\n\r\n" + header
          + "\r\nFR,,18,,,\"Code, art. \"\"414\"\"\",,,,,,,,high,source\r\n").utf8))
    #expect(table.line("FR")?.majorityStatute == "Code, art. \"414\"")
  }

  @Test(
    "D12: refuses a wrong table with the line and the reason",
    arguments: [
      ("US,,17,,,,,,,,,,,high,source", "majority has no majority_statute"),
      ("US,,13,,,Code,,,,,,,,high,source", "majority is 14 to 25, not '13'"),
      ("US,,26,,,Code,,,,,,,,high,source", "majority is 14 to 25, not '26'"),
      ("US,,x,,,Code,,,,,,,,high,source", "majority is 14 to 25, not 'x'"),
      ("us,,18,,,Code,,,,,,,,high,source", "'us' is no region such as FR or US-TX"),
      ("US-,,18,,,Code,,,,,,,,high,source", "'US-' is no region such as FR or US-TX"),
      (",,18,,,Code,,,,,,,,high,source", "'' is no region such as FR or US-TX"),
      ("US,,18,,,Code,,,,,,,,high,", "the line has no source"),
      ("US,,18,,,Code,,,,,,,,sure,source", "confidence is high, medium or low, not 'sure'"),
      ("US,,18,2026-06-01,,Code,,,,,,,,high,source", "majority_from and majority_before"),
      ("US,,18,06/01/2026,21,Code,,,,,,,,high,source", "majority_from is a day such as"),
      ("US,,,,,,,,,2027-01-01,,,13 16,high,source", "a duty has no act"),
      ("US,,,,,,Act,,,2027-01-01,,,,high,source", "age_range has no gates"),
      ("US,,,,,,Act,,,2027-02-29,,,13 16,high,source", "'2027-02-29' in age_range is no period"),
      ("US,,,,,,Act,,,2027-01-01..2027-01-01,,,13 16,high,source", "is no period"),
      ("US,,,,,,Act,,,2027-01-01@x,,,13 16,high,source", "is no period"),
      ("US,,,,,,Act,,,2027-01-01,,,13 14,high,source", "gates are one to three ages"),
      ("US,,,,,,Act,,,2027-01-01,,,13;16,high,source", "gates are numbers"),
      ("US,,18,,,Code,,,,,,,,high", "14 values instead of 15"),
      ("US,,18,,,\"Code,,,,,,,,high,source", "a quotation mark has no end"),
      ("FR,,18,,,Code,,,,,,,,high,source", "the region FR has a line already"),
      ("PR,FR,21,,,Code,,,,,,,,high,source", "the region FR has a line already"),
    ])
  func mistakes(_ line: String, _ reason: String) {
    let error = #expect(throws: RegionTable.Mistake.self) {
      try table("FR,,18,,,Code,,,,,,,,high,source", line)
    }
    #expect(error?.line == 3)
    #expect(error?.reason.contains(reason) == true, "\(error?.reason ?? "")")
  }

  @Test("D12: refuses a table without its columns, or above a limit") func limits() throws {
    for text in ["", "# nothing\n", "FR,18\n"] {
      #expect(throws: RegionTable.Mistake.self) { try RegionTable(csv: Array(text.utf8)) }
    }
    #expect(throws: RegionTable.Mistake.self) { try RegionTable(csv: [0xFF]) }
    func value(_ bytes: Int) -> String {
      "FR,,18,,,\(String(repeating: "x", count: bytes)),,,,,,,,high,source"
    }
    #expect(try table(value(Limits.regionValueBytes)).lines.count == 1)
    #expect(throws: RegionTable.Mistake.self) { try table(value(Limits.regionValueBytes + 1)) }
    func periods(_ count: Int) -> String {
      let words = Array(repeating: "2027-01-01", count: count).joined(separator: " ")
      return "FR,,,,,,Act,,\(words),,,,,high,source"
    }
    #expect(try table(periods(Limits.regionPeriods)).lines.count == 1)
    #expect(throws: RegionTable.Mistake.self) { try table(periods(Limits.regionPeriods + 1)) }
    let filler = String(repeating: "#\n", count: Limits.regionTableBytes / 2)
    #expect(throws: RegionTable.Mistake.self) {
      try RegionTable(csv: Array((filler + header).utf8))
    }
    var codes: [String] = []
    let letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ".map(String.init)
    for a in letters { for b in letters { for c in letters { codes.append("\(a)\(b)-\(c)") } } }
    let lines = codes.prefix(Limits.regions).map { "\($0),,18,,,C,,,,,,,,high,s" }
    func joined(_ lines: [String]) -> [UInt8] {
      Array(([header] + lines).joined(separator: "\n").utf8)
    }
    #expect(try RegionTable(csv: joined(lines)).lines.count == Limits.regions)
    #expect(throws: RegionTable.Mistake.self) {
      try RegionTable(csv: joined(lines + ["ZZ-ZZ,,18,,,C,,,,,,,,high,s"]))
    }
  }
}
