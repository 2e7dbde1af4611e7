/// The form of a table's file.
extension RegionTable {
  /// The columns, in order. The first line that is no comment holds their names.
  public static let columns = [
    "region", "aliases", "majority", "majority_from", "majority_before", "majority_statute", "act",
    "minor_below", "eligible", "age_range", "parental_consent", "adult_notice", "gates",
    "confidence", "source",
  ]

  /// Reads a table from comma-separated values in UTF-8. Lines that start with `#` are comments.
  ///
  /// - Throws: ``Mistake`` with the first line that is wrong.
  public init(csv bytes: [UInt8]) throws(Mistake) {
    guard bytes.count <= Limits.regionTableBytes else {
      throw Mistake(1, "the table has more than \(Limits.regionTableBytes) bytes")
    }
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw Mistake(1, "the table is not UTF-8")
    }
    var lines: [RegionLine] = []
    var seen: Set<String> = []
    var hasHeader = false
    for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
      .enumerated() where !line.allSatisfy(\.isWhitespace) && !line.hasPrefix("#")
    {
      let number = index + 1
      let fields = try Self.fields(of: line, number)
      guard hasHeader else {
        guard fields == Self.columns else {
          throw Mistake(number, "the columns are not \(Self.columns.joined(separator: ","))")
        }
        hasHeader = true
        continue
      }
      guard fields.count == Self.columns.count else {
        throw Mistake(number, "\(fields.count) values instead of \(Self.columns.count)")
      }
      guard lines.count < Limits.regions else {
        throw Mistake(number, "the table has more than \(Limits.regions) regions")
      }
      let region = try RegionParser(number, fields).region()
      for code in [region.code] + region.aliases where !seen.insert(code).inserted {
        throw Mistake(number, "the region \(code) has a line already")
      }
      lines.append(region)
    }
    guard hasHeader else { throw Mistake(1, "the table has no line with its columns") }
    self.init(lines)
  }

  /// The values of a line. A value in quotation marks may contain commas; a doubled mark is a mark.
  private static func fields(of line: Substring, _ number: Int) throws(Mistake) -> [String] {
    var fields = [""]
    var isQuoted = false
    var rest = line[...]
    while let character = rest.popFirst() {
      switch character {
      case "\"" where isQuoted && rest.first == "\"":
        fields[fields.count - 1].append(rest.removeFirst())
      case "\"": isQuoted.toggle()
      case "," where !isQuoted: fields.append("")
      default: fields[fields.count - 1].append(character)
      }
    }
    guard !isQuoted else { throw Mistake(number, "a quotation mark has no end") }
    for (name, field) in zip(columns, fields) where field.utf8.count > Limits.regionValueBytes {
      throw Mistake(number, "\(name) has more than \(Limits.regionValueBytes) bytes")
    }
    return fields
  }
}

/// Reads the values of one line.
private struct RegionParser {
  let number: Int
  let values: [String: String]

  init(_ number: Int, _ fields: [String]) {
    self.number = number
    values = Dictionary(uniqueKeysWithValues: zip(RegionTable.columns, fields))
  }

  func region() throws(RegionTable.Mistake) -> RegionLine {
    var line = RegionLine()
    line.code = try code(values["region"]!)
    for alias in words("aliases") { line.aliases.append(try code(alias)) }
    line.majority = try age("majority")
    line.majorityFrom = try day("majority_from")
    line.majorityBefore = try age("majority_before")
    line.majorityStatute = values["majority_statute"]!
    line.act = values["act"]!
    line.minorBelow = try age("minor_below")
    line.eligible = try periods("eligible")
    line.ageRange = try periods("age_range")
    line.parentalConsent = try periods("parental_consent")
    line.adultNotice = try periods("adult_notice")
    line.gates = try gates()
    guard let confidence = RegionLine.Confidence(rawValue: values["confidence"]!) else {
      throw mistake("confidence is high, medium or low, not '\(values["confidence"]!)'")
    }
    line.confidence = confidence
    line.source = values["source"]!
    try check(line)
    return line
  }

  /// The rules between the values.
  private func check(_ line: RegionLine) throws(RegionTable.Mistake) {
    guard !line.source.isEmpty else { throw mistake("the line has no source") }
    guard line.majority == nil || !line.majorityStatute.isEmpty else {
      throw mistake("majority has no majority_statute")
    }
    guard (line.majorityFrom == nil) == (line.majorityBefore == nil),
      line.majorityFrom == nil || line.majority != nil
    else { throw mistake("majority_from and majority_before need each other and majority") }
    guard line.periods.isEmpty || !line.act.isEmpty else { throw mistake("a duty has no act") }
    guard line.ageRange.isEmpty || !line.gates.isEmpty else {
      throw mistake("age_range has no gates")
    }
  }

  private func mistake(_ reason: String) -> RegionTable.Mistake {
    RegionTable.Mistake(number, reason)
  }

  private func words(_ column: String) -> [Substring] { values[column]!.split(separator: " ") }

  private func code(_ text: some StringProtocol) throws(RegionTable.Mistake) -> String {
    let parts = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
    func isCapital(_ byte: UInt8) -> Bool { UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte }
    func isDigit(_ byte: UInt8) -> Bool { UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte }
    guard 1...2 ~= parts.count, parts[0].count == 2, parts[0].allSatisfy(isCapital),
      parts.count == 1
        || 1...3 ~= parts[1].count && parts[1].allSatisfy({ isCapital($0) || isDigit($0) })
    else { throw mistake("'\(text)' is no region such as FR or US-TX") }
    return String(text)
  }

  private func age(_ column: String) throws(RegionTable.Mistake) -> Int32? {
    let text = values[column]!
    if text.isEmpty { return nil }
    guard let age = Int32(text), Limits.legalAges ~= age else {
      let ages = Limits.legalAges
      throw mistake("\(column) is \(ages.lowerBound) to \(ages.upperBound), not '\(text)'")
    }
    return age
  }

  private func day(_ column: String) throws(RegionTable.Mistake) -> Account.Day? {
    let text = values[column]!
    if text.isEmpty { return nil }
    guard let day = Account.Day(iso: text) else {
      throw mistake("\(column) is a day such as 2027-05-06, not '\(text)'")
    }
    return day
  }

  private func periods(_ column: String) throws(RegionTable.Mistake) -> [LegalPeriod] {
    let words = words(column)
    guard words.count <= Limits.regionPeriods else {
      throw mistake("\(column) has more than \(Limits.regionPeriods) periods")
    }
    var periods: [LegalPeriod] = []
    for word in words {
      guard let period = LegalPeriod(word) else {
        throw mistake("'\(word)' in \(column) is no period such as 2027-05-06@2027-05-06")
      }
      periods.append(period)
    }
    return periods
  }

  private func gates() throws(RegionTable.Mistake) -> [Int32] {
    let words = words("gates")
    let gates = words.compactMap { Int32($0) }
    guard gates.count == words.count else { throw mistake("gates are numbers such as 13 16 18") }
    guard !gates.isEmpty else { return [] }
    do throws(Problem) { try AgeGates.check(gates) } catch {
      throw mistake("gates are one to three ages, ascending and at least two years apart")
    }
    return gates
  }
}
