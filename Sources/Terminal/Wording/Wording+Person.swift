public import FamilyModel

extension Wording {
  /// What to show for a person of the topic (Q3): name, nickname and, in brackets, the handle; the
  /// handle alone where there is no name.
  public func person(_ subject: Subject) -> String {
    let handle = subject.handle.value.harmless
    guard let parts = subject.name else { return handle }
    var shown = name(parts)
    guard !shown.isEmpty else { return handle }
    if parts.nickname.isVisible, shown != parts.nickname.harmless {
      shown = text("person.withNickname", [shown, parts.nickname])
    }
    return text("person.withHandle", [shown, handle])
  }

  /// The whole name in the order of its own script, or the nickname where there is nothing else;
  /// empty where nothing of it can be seen.
  ///
  /// Foundation has no `PersonNameComponentsFormatter` on Linux; this follows its long style.
  public func name(_ parts: NameParts) -> String {
    let core = [parts.given, parts.middle, parts.family].filter(\.isVisible)
    guard !core.isEmpty else { return parts.nickname.isVisible ? parts.nickname.harmless : "" }
    let order = NameOrder(core, language)
    let ordered =
      order.familyFirst
      ? [parts.family, parts.middle, parts.given] : [parts.given, parts.middle, parts.family]
    return [
      parts.prefix, ordered.filter(\.isVisible).joined(separator: order.within), parts.suffix,
    ]
    .filter(\.isVisible).joined(separator: order.around).harmless
  }
}

/// How the parts of a name stand together. It depends on the script of the name: Ada Lovelace stays
/// so in Japanese, and 山田太郎 begins with the family in English, too.
private struct NameOrder {
  var familyFirst = false
  /// Between given, middle and family name.
  var within = " "
  /// Between them and what stands before and after the name.
  var around = " "

  init(_ core: [String], _ language: Language) {
    let scalars = core.joined().unicodeScalars.filter { !$0.properties.isWhitespace }
    if scalars.allSatisfy(\.isKatakana) {
      // A name from abroad, in its own order: エイダ・ラブレス.
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
