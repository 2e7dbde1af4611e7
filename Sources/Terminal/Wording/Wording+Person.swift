public import FamilyModel

extension Wording {
  /// The text for a person of a question: name, nickname and, in parentheses, the handle.
  ///
  /// Without a visible name, the text is the handle alone.
  public func person(_ subject: Subject) -> String {
    let handle = subject.handle.value.sanitized
    guard let parts = subject.name else { return handle }
    var shown = name(parts)
    guard !shown.isEmpty else { return handle }
    if parts.nickname.isVisible, shown != parts.nickname.sanitized {
      shown = text("person.withNickname", [shown, parts.nickname])
    }
    return text("person.withHandle", [shown, handle])
  }

  /// The whole name in the order of its script, or the nickname alone; empty if neither is visible.
  ///
  /// The result follows the long style of `PersonNameComponentsFormatter`, which Linux lacks.
  public func name(_ parts: NameParts) -> String {
    let core = [parts.given, parts.middle, parts.family].filter(\.isVisible)
    guard !core.isEmpty else { return parts.nickname.isVisible ? parts.nickname.sanitized : "" }
    let order = NameOrder(core, language)
    let ordered =
      order.familyFirst
      ? [parts.family, parts.middle, parts.given] : [parts.given, parts.middle, parts.family]
    return [
      parts.prefix, ordered.filter(\.isVisible).joined(separator: order.within), parts.suffix,
    ]
    .filter(\.isVisible).joined(separator: order.around).sanitized
  }
}

/// The order and separators of a name's parts, which depend on the name's script.
///
/// Ada Lovelace keeps her order in Japanese, and 山田太郎 starts with the family name in English.
private struct NameOrder {
  var familyFirst = false
  /// The separator between given, middle and family name.
  var within = " "
  /// The separator of prefix and suffix.
  var around = " "

  init(_ core: [String], _ language: Language) {
    let scalars = core.joined().unicodeScalars.filter { !$0.properties.isWhitespace }
    if scalars.allSatisfy(\.isKatakana) {
      // A foreign name in katakana keeps its order: エイダ・ラブレス.
      within = "・"
    } else if scalars.allSatisfy({ $0.isHan || $0.isKana || $0.isHangul }) {
      familyFirst = true
      if language != .japanese, !scalars.contains(where: \.isKana) { (within, around) = ("", "") }
    }
  }
}

extension Unicode.Scalar {
  fileprivate var isHan: Bool {
    properties.isIdeographic || value == 0x3005 || value == 0x303B
  }
  fileprivate var isKatakana: Bool {
    switch value {
    case 0x30A0...0x30FF, 0x31F0...0x31FF, 0xFF66...0xFF9F: true
    default: false
    }
  }
  fileprivate var isKana: Bool { isKatakana || (0x3040...0x309F).contains(value) }
  fileprivate var isHangul: Bool {
    switch value {
    case 0x1100...0x11FF, 0x3130...0x318F, 0xAC00...0xD7AF: true
    default: false
    }
  }
}
