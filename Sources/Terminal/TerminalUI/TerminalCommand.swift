import FamilyModel
import Wording

/// A command that a person types: an English word and its arguments.
enum TerminalCommand: Hashable, Sendable {
  case help, list, show, quit, children
  /// Posts a text message.
  case post(String)
  /// A child cancels a question.
  case cancel(UInt64?)
  case decline(UInt64?)
  case review(UInt64?)
  /// Saves a question's pictures as files.
  case pictures(UInt64?)
  /// Selects the child to which the next commands apply.
  case with(String)
  case limits(on: Bool, child: String?)
  case contact(Handle, known: Bool)
  case withdraw
  case withdrawConsent(AppID)
  case giveConsent(AppID)
  case passcode
  case addChild(String)
  case members
  case invite(String)
  case addMember(Role, String)
  case removeMember(String)
  case removeDevice(UInt32)
  case birthdate(child: String, Account.Day)
  /// Sets the owner's own birthdate and, optionally, region.
  case ownBirthdate(Account.Day, region: String?)
  /// Begins or continues a child's set-up.
  case onboard(String)
  /// Sets whether age ranges are shared with one app, or with all apps (`nil`).
  case age(AgeSharing, AppID?)
  /// Clears an app's age answers, so that it can ask again.
  case forgetAge(AppID)
  case ceiling(AgeRating?)
  /// Lists the notifications.
  case notices
  /// Dismisses one notification, or all.
  case dismiss(Int?)
  /// Explains why a handle is known or not, in one app or in all.
  case explain(Handle, AppID?)
  /// Lists the apps on the devices of the person, or of the selected child.
  case apps
  /// Lists the use of the web of the person, or of the selected child.
  case web
  /// Lists what apps learned about the age of the person, or of the selected child.
  case ages
  /// Sets a sandbox case, or ends it (`nil`).
  case sandbox(SandboxCase?)

  /// Parses a line; `nil` unless it is a command that this person may use.
  init?(_ line: String, isGuardian: Bool) {
    let words = line.split(separator: " ").map(String.init)
    guard let first = words.first?.lowercased() else { return nil }
    let arguments = line.trimmingSpaces.dropFirst(first.count).trimmingSpaces
    switch (first, words.count) {
    case ("?", 1), ("help", 1): self = .help
    case ("list", 1): self = .list
    case ("show", 1): self = .show
    case ("quit", 1), ("exit", 1): self = .quit
    case ("ages", 1): self = .ages
    case ("apps", 1): self = .apps
    case ("web", 1): self = .web
    case ("sandbox", 2):
      let sandbox = SandboxCase(rawValue: words[1])
      guard sandbox?.answers != nil || words[1] == "off" else { return nil }
      self = .sandbox(sandbox)
    case ("say", 2...): self = .post(arguments)
    case ("age", 2...3), ("ceiling", 2):
      guard let command = Self.age(words) else { return nil }
      self = command
    case ("notices", _), ("dismiss", _), ("explain", _):
      guard let command = Self.device(words) else { return nil }
      self = command
    case ("birthdate", 2...3) where Account.Day(iso: words[1]) != nil:
      guard words.count == 2 || Account.isRegion(words[2]) else { return nil }
      self = .ownBirthdate(Account.Day(iso: words[1])!, region: words.count == 3 ? words[2] : nil)
    default:
      guard
        let command = isGuardian
          ? Self.guardian(first, words, arguments) : Self.child(first, words)
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

  private static func guardian(_ first: String, _ words: [String], _ arguments: String)
    -> TerminalCommand?
  {
    // The short form: `d2` means `d 2`.
    if let key = first.first, "drp".contains(key), first.count > 1, words.count == 1,
      let number = UInt64(first.dropFirst())
    {
      return key == "d" ? .decline(number) : key == "r" ? .review(number) : .pictures(number)
    }
    switch first {
    case "d", "decline": return numbered(words).map { .decline($0) }
    case "r", "review": return numbered(words).map { .review($0) }
    case "p", "picture": return numbered(words).map { .pictures($0) }
    case "with": return arguments.isEmpty ? .children : .with(arguments)
    case "limits":
      guard words.count > 1, ["on", "off"].contains(words[1]) else { return nil }
      let child = arguments.dropFirst(words[1].count).trimmingSpaces
      return .limits(on: words[1] == "on", child: child.isEmpty ? nil : child)
    case "contact": return contact(words, arguments)
    case "withdraw":
      if words.count == 1 { return .withdraw }
      return words.count == 3 && words[1] == "consent" ? .withdrawConsent(AppID(words[2])) : nil
    case "consent": return words.count == 2 ? .giveConsent(AppID(words[1])) : nil
    case "passcode": return words.count == 1 ? .passcode : nil
    case "add":
      guard words.count > 2 else { return nil }
      let name = arguments.dropFirst(words[1].count).trimmingSpaces
      switch words[1] {
      case "child": return .addChild(name)
      case "guardian": return .addMember(.guardian, name)
      case "adult": return .addMember(.adult, name)
      default: return nil
      }
    case "onboard": return arguments.isEmpty ? nil : .onboard(arguments)
    case "family": return words.count == 1 ? .members : nil
    case "invite": return arguments.isEmpty ? .members : .invite(arguments)
    case "remove":
      guard words.count > 2 else { return nil }
      let name = arguments.dropFirst(words[1].count).trimmingSpaces
      switch words[1] {
      case "member": return .removeMember(name)
      case "device": return UInt32(name).map { .removeDevice($0) }
      default: return nil
      }
    case "birthdate":
      guard words.count > 2, let day = Account.Day(iso: words[words.count - 1]) else {
        return nil
      }
      return .birthdate(child: arguments.dropLast(words[words.count - 1].count).trimmingSpaces, day)
    default: return nil
    }
  }

  /// The optional number of a command; the outer `nil` marks invalid arguments.
  private static func numbered(_ words: [String]) -> UInt64?? {
    if words.count == 1 { return .some(nil) }
    let digits = words[1].hasPrefix("#") ? words[1].dropFirst() : words[1][...]
    guard words.count == 2, let number = UInt64(digits) else { return nil }
    return .some(number)
  }

  private static func contact(_ words: [String], _ arguments: String) -> TerminalCommand? {
    let kinds: [String: Handle.Kind] = [
      "phone": .phoneNumber, "email": .emailAddress, "custom": .custom,
    ]
    guard words.count > 3, ["add", "remove"].contains(words[1]), let kind = kinds[words[2]] else {
      return nil
    }
    let value = arguments.dropFirst(words[1].count).trimmingSpaces.dropFirst(words[2].count)
    return .contact(Handle(value.trimmingSpaces, kind), known: words[1] == "add")
  }

  /// The listed forms of the command that the line starts with; empty for an unknown command.
  static func usage(of line: String, isGuardian: Bool) -> [(usage: String, effect: Phrase)] {
    let word = line.trimmingSpaces.prefix(while: \.isLetter).lowercased()
    return help(isGuardian: isGuardian).filter { $0.usage.prefix(while: \.isLetter) == word }
  }

  /// The commands that `?` lists.
  static func help(isGuardian: Bool) -> [(usage: String, effect: Phrase)] {
    let both: [(usage: String, effect: Phrase)] = [
      ("say TEXT", .helpPost), ("list", .helpList),
      ("age always|ask|never [APP]", .helpAge), ("age forget APP", .helpForgetAge),
      ("ages", .helpAges), ("apps", .helpApps), ("web", .helpWeb),
      ("sandbox CASE|off", .helpSandbox),
      ("ceiling 4|9|13|16|18|off", .helpCeiling),
      ("birthdate 2014-05-17 [REGION]", .helpOwnBirthdate), ("show", .helpShow),
      ("quit", .helpQuit),
    ]
    guard isGuardian else { return [("cancel [N]", .helpCancel)] + both + deviceHelp }
    return [
      ("r[N]", .helpReview), ("d[N]", .helpDecline), ("p[N]", .helpPictures),
      ("with [CHILD]", .helpWith), ("contact add|remove KIND VALUE", .helpContact),
      ("withdraw", .helpWithdraw), ("withdraw consent APP", .helpWithdrawConsent),
      ("consent APP", .helpGiveConsent),
      ("limits on|off [CHILD]", .helpLimits), ("birthdate CHILD 2014-05-17", .helpBirthdate),
      ("onboard NAME", .helpOnboard), ("family", .helpFamily),
      ("add child|guardian|adult NAME", .helpAdd),
      ("invite NAME", .helpInvite), ("remove device N", .helpRemoveDevice),
      ("remove member NAME", .helpRemoveMember), ("passcode", .helpPasscode),
    ] + both + deviceHelp
  }
}

extension StringProtocol {
  fileprivate var trimmingSpaces: String { String(self).trimmingSpaces }
}
