/// The part of a question that the relay reads: ids, choices and expiration, but no content.
///
/// App, subjects and choices are stored in one array in their protobuf encoding. The relay copies
/// headers often and reads them seldom, and its decoder adopts the received bytes. The encoding is
/// part of this type, not of RelayWire, because the type's own properties read and write it.
public struct QuestionHeader: Hashable, Sendable {
  /// The question's id.
  public var id: QuestionID
  /// The child who asks.
  public var child: PersonID
  /// The last moment at which a guardian may answer; `nil`: no limit.
  public var expiration: Instant?
  /// App, subjects and choices as fields 3 to 5 of a protobuf message.
  ///
  /// Invariant: fields ascend, none is empty, and every number has its shortest encoding.
  package private(set) var parts: [UInt8]

  /// Creates a header and encodes its parts.
  public init(
    id: QuestionID, child: PersonID, app: AppID, subjects: [UInt8], choices: [ChoiceHeader],
    expiration: Instant?
  ) {
    self.init(
      id: id, child: child, parts: Self.parts(app, subjects, choices), expiration: expiration)
  }

  /// Creates a header from encoded parts.
  ///
  /// Precondition: `parts` satisfies the invariant of ``parts``.
  package init(id: QuestionID, child: PersonID, parts: [UInt8], expiration: Instant?) {
    self.id = id
    self.child = child
    self.parts = parts
    self.expiration = expiration
  }

  /// Whether nobody may answer any more at this moment.
  package func hasExpired(at moment: Instant) -> Bool { expiration.map { $0 < moment } ?? false }

  /// The app that asks.
  public var app: AppID {
    get { AppID(first(3) { String(decoding: $0, as: UTF8.self) } ?? "") }
    set { parts = Self.parts(newValue, subjects, choices) }
  }

  /// A keyed digest of the subjects: equal for the same people in the same app.
  public var subjects: [UInt8] {
    get { first(4) { [UInt8]($0) } ?? [] }
    set { parts = Self.parts(app, newValue, choices) }
  }

  /// The choices without their titles, in order.
  public var choices: [ChoiceHeader] {
    get {
      withParts { parts in
        var choices: [ChoiceHeader] = []
        while let (id, answer) = parts.nextChoice() {
          choices.append(ChoiceHeader(id: String(decoding: id, as: UTF8.self), answer: answer))
        }
        return choices
      }
    }
    set { parts = Self.parts(app, subjects, newValue) }
  }

  /// The choice with this id, compared byte by byte; `nil` if absent.
  package func choice(_ id: String) -> ChoiceHeader? {
    var id = id
    let answer = id.withUTF8 { wanted in
      withParts { parts -> Answer? in
        while let (id, answer) = parts.nextChoice() {
          if id.isSame(as: UnsafeRawBufferPointer(wanted)) { return answer }
        }
        return nil
      }
    }
    return answer.map { ChoiceHeader(id: id, answer: $0) }
  }

  /// Checks sizes, and that the choices have distinct ids.
  ///
  /// - Throws: `tooLarge` or `badChoices`.
  package func validate() throws(Problem) {
    var isPlain = true
    let problem = withParts { parts -> Problem? in
      let start = parts
      var choices = 0
      while let part = parts.next() {
        switch part.field {
        case 3 where part.bytes.count > Limits.identifierBytes: return .tooLarge
        case 4 where part.bytes.count > Limits.subjectBytes: return .tooLarge
        case 5:
          let id = part.choice.id
          guard 1...Limits.identifierBytes ~= id.count, choices < Limits.choices else {
            return .badChoices
          }
          var others = start
          for _ in 0..<choices where others.nextChoice()!.id.isSame(as: id) { return .badChoices }
          choices += 1
          isPlain = isPlain && id.isASCII
        default: break
        }
      }
      return choices == 0 ? .badChoices : nil
    }
    if let problem { throw problem }
    // Beyond ASCII, equal strings may have different bytes.
    guard isPlain || Set(choices.map(\.id)).count == choices.count else { throw .badChoices }
  }

  private func first<T>(_ field: UInt8, _ body: (UnsafeRawBufferPointer) -> T) -> T? {
    withParts { parts in
      while let part = parts.next() {
        if part.field == field { return body(part.bytes) }
      }
      return nil
    }
  }

  private func withParts<R>(_ body: (inout HeaderParts) -> R) -> R {
    parts.withUnsafeBytes { bytes in
      var parts = HeaderParts(bytes)
      return body(&parts)
    }
  }

  private static func parts(_ app: AppID, _ subjects: [UInt8], _ choices: [ChoiceHeader])
    -> [UInt8]
  {
    func part(_ field: UInt8, _ bytes: [UInt8]) -> [UInt8] {
      guard !bytes.isEmpty else { return [] }
      var part = [field << 3 | 2]
      Varint.append(UInt64(bytes.count), to: &part)
      return part + bytes
    }
    return choices.reduce(part(3, Array(app.rawValue.utf8)) + part(4, subjects)) {
      $0 + part(5, part(1, Array($1.id.utf8)) + [3 << 3, $1.answer.rawValue])
    }
  }
}

/// A reader of ``QuestionHeader/parts``. The bytes were encoded here or validated, so reads need no
/// bounds checks.
private struct HeaderParts {
  private let bytes: UnsafeRawBufferPointer
  private var position = 0

  init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

  @inline(__always)
  mutating func next() -> HeaderPart? {
    guard position < bytes.count else { return nil }
    let field = bytes[position] >> 3
    position += 1
    var (count, shift) = (0, 0)
    while bytes[position] > 0x7F {
      count |= Int(bytes[position] & 0x7F) << shift
      position += 1
      shift += 7
    }
    count |= Int(bytes[position]) << shift
    let start = position + 1
    position = start + count
    return HeaderPart(
      field: field, bytes: UnsafeRawBufferPointer(rebasing: bytes[start..<position]))
  }

  mutating func nextChoice() -> (id: UnsafeRawBufferPointer, answer: Answer)? {
    while let part = next() {
      if part.field == 5 { return part.choice }
    }
    return nil
  }
}

private struct HeaderPart {
  var field: UInt8
  var bytes: UnsafeRawBufferPointer

  /// The choice in this field: its id, which may be empty, then its answer in two bytes.
  var choice: (id: UnsafeRawBufferPointer, answer: Answer) {
    var parts = HeaderParts(UnsafeRawBufferPointer(rebasing: bytes.dropLast(2)))
    let id = parts.next()?.bytes ?? UnsafeRawBufferPointer(start: nil, count: 0)
    return (id, Answer(rawValue: bytes[bytes.count - 1])!)
  }
}
