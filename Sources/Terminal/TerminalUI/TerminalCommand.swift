import FamilyModel

/// What a person types as a line: a word of English, and what it is about.
enum TerminalCommand: Hashable, Sendable {
  case help, list, show, quit, children
  case say(String)
  /// A child takes a question back.
  case cancel(Int?)
  case decline(Int?)
  case review(Int?)
  /// Hands out the pictures of a question as files.
  case pictures(Int?)
  /// Picks the child whom the next commands are about.
  case with(String)
  case limits(on: Bool, child: String?)
  case contact(Handle, known: Bool)
  case withdraw
  case withdrawConsent(AppID)
  case passcode
  case addChild(String)
  case members
  case invite(String)
  case addMember(Role, String)
  case removeMember(String)
  case removeDevice(UInt32)
  case birthdate(child: String, Account.Day)
  /// Whether age ranges are shared, with an app or with all.
  case age(AgeSharing, AppID?)
  /// An app's answers are forgotten: “share again”.
  case forgetAge(AppID)
  case ceiling(AgeRating?)

  /// Reads a line; `nil` where it is no command, or not one of this kind of person.
  init?(_ line: String, isGuardian: Bool) {
    let words = line.split(separator: " ").map(String.init)
    guard let first = words.first?.lowercased() else { return nil }
    let rest = line.trimmingSpaces.dropFirst(first.count).trimmingSpaces
    switch (first, words.count) {
    case ("?", 1), ("help", 1): self = .help
    case ("list", 1): self = .list
    case ("show", 1): self = .show
    case ("quit", 1), ("exit", 1): self = .quit
    case ("say", 2...): self = .say(rest)
    case ("age", 2...3), ("ceiling", 2):
      guard let command = Self.age(words) else { return nil }
      self = command
    default:
      guard let command = isGuardian ? Self.guardian(first, words, rest) : Self.child(first, words)
      else { return nil }
      self = command
    }
  }

  private static func age(_ words: [String]) -> TerminalCommand? {
    let settings: [String: AgeSharing] = ["always": .always, "ask": .askFirst, "never": .never]
    let app = words.count == 3 ? AppID(words[2]) : nil
    switch (words[0].lowercased(), words[1]) {
    case ("age", "forget"): return app.map { .forgetAge($0) }
    case ("age", let word): return settings[word].map { .age($0, app) }
    case (_, "off"): return .ceiling(nil)
    case (_, let rating): return UInt8(rating).flatMap(AgeRating.init).map { .ceiling($0) }
    }
  }

  private static func child(_ first: String, _ words: [String]) -> TerminalCommand? {
    first == "cancel" ? numbered(words).map { .cancel($0) } : nil
  }

  private static func guardian(_ first: String, _ words: [String], _ rest: String)
    -> TerminalCommand?
  {
    // d2 is d 2.
    if let key = first.first, "drp".contains(key), first.count > 1, words.count == 1,
      let number = Int(first.dropFirst())
    {
      return key == "d" ? .decline(number) : key == "r" ? .review(number) : .pictures(number)
    }
    switch first {
    case "d", "decline": return numbered(words).map { .decline($0) }
    case "r", "review": return numbered(words).map { .review($0) }
    case "p", "picture": return numbered(words).map { .pictures($0) }
    case "with": return rest.isEmpty ? .children : .with(rest)
    case "limits":
      guard words.count > 1, ["on", "off"].contains(words[1]) else { return nil }
      let child = rest.dropFirst(words[1].count).trimmingSpaces
      return .limits(on: words[1] == "on", child: child.isEmpty ? nil : child)
    case "contact": return contact(words, rest)
    case "withdraw":
      if words.count == 1 { return .withdraw }
      return words.count == 3 && words[1] == "consent" ? .withdrawConsent(AppID(words[2])) : nil
    case "passcode": return words.count == 1 ? .passcode : nil
    case "add":
      guard words.count > 2 else { return nil }
      let name = rest.dropFirst(words[1].count).trimmingSpaces
      switch words[1] {
      case "child": return .addChild(name)
      case "guardian": return .addMember(.guardian, name)
      case "adult": return .addMember(.adult, name)
      default: return nil
      }
    case "family": return words.count == 1 ? .members : nil
    case "invite": return rest.isEmpty ? .members : .invite(rest)
    case "remove":
      guard words.count > 2 else { return nil }
      let name = rest.dropFirst(words[1].count).trimmingSpaces
      switch words[1] {
      case "member": return .removeMember(name)
      case "device": return UInt32(name).map { .removeDevice($0) }
      default: return nil
      }
    case "birthdate":
      guard words.count > 2, let day = Account.Day(written: words[words.count - 1]) else {
        return nil
      }
      return .birthdate(child: rest.dropLast(words[words.count - 1].count).trimmingSpaces, day)
    default: return nil
    }
  }

  /// A command with one number, or none.
  private static func numbered(_ words: [String]) -> Int?? {
    if words.count == 1 { return .some(nil) }
    let digits = words[1].hasPrefix("#") ? words[1].dropFirst() : words[1][...]
    guard words.count == 2, let number = Int(digits) else { return nil }
    return .some(number)
  }

  private static func contact(_ words: [String], _ rest: String) -> TerminalCommand? {
    let kinds: [String: Handle.Kind] = [
      "phone": .phoneNumber, "email": .emailAddress, "custom": .custom,
    ]
    guard words.count > 3, ["add", "remove"].contains(words[1]), let kind = kinds[words[2]] else {
      return nil
    }
    let value = rest.dropFirst(words[1].count).trimmingSpaces.dropFirst(words[2].count)
    return .contact(Handle(value.trimmingSpaces, kind), known: words[1] == "add")
  }

  /// What `?` lists.
  static func help(isGuardian: Bool) -> [(usage: String, does: String)] {
    let both = [
      ("say TEXT", "send a message"), ("list", "contacts, and what is open"),
      ("age always|ask|never [APP]", "share age ranges"),
      ("age forget APP", "what an app was told: share again"),
      ("ceiling 4|9|13|16|18|off", "the highest rating of an app"),
      ("show", "the end of the conversation again"), ("quit", "end (the device goes off line)"),
    ]
    guard isGuardian else {
      return [("cancel [N]", "take request N back")] + both
    }
    return [
      ("r[N]", "review request N, then answer"), ("d[N]", "decline request N"),
      ("p[N]", "the pictures of request N, as files"),
      ("with [CHILD]", "whom the commands below are about"),
      ("contact add|remove KIND VALUE", "known contacts; KIND is phone, email or custom"),
      ("withdraw", "take an approval back, from a list"),
      ("withdraw consent APP", "the child may not go on with the app"),
      ("limits on|off [CHILD]", "communication limits"),
      ("birthdate CHILD 2014-05-17", "set or correct it"),
      ("family", "who is in it, and with which devices"),
      ("add child|guardian|adult NAME", "make an account"),
      ("invite NAME", "a code for a new device of NAME"),
      ("remove device N", "one that is lost, or not used any more"),
      ("remove member NAME", "with all devices"),
      ("passcode", "set the Screen Time passcode"),
    ] + both
  }
}

extension StringProtocol {
  fileprivate var trimmingSpaces: String { String(self).trimmingSpaces }
}

extension Account.Day {
  /// Reads `2014-05-17`; `nil` for what is no day.
  init?(written text: String) {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 3, parts[0].count == 4, let year = Int32(parts[0]),
      let month = UInt8(parts[1]), let day = UInt8(parts[2]), 1900...2200 ~= year,
      1...12 ~= month
    else { return nil }
    let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    let days: [UInt8] = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    guard 1...days[Int(month) - 1] ~= day else { return nil }
    self.init(year: year, month: month, day: day)
  }
}
