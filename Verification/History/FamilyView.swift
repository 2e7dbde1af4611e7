public import FamilyModel

/// The state of a family as one process holds it: the relay, or a device for what it may read.
public struct FamilyView: Hashable, Sendable {
  /// The state of one child's conversation.
  public struct Child: Hashable, Sendable {
    /// The child.
    public var id: PersonID
    /// Whether communication limits are on; `nil`: the process does not know.
    public var limitsOn: Bool?
    /// The questions without a decision, ascending. Expired questions count.
    public var open: [QuestionID]
    /// The known handles with the app in which each is known, `nil` for all apps, in a fixed order.
    /// The relay knows none.
    public var known: [Known]?
    /// The settings of the web and of pictures. The relay knows none.
    public var settings: [Content]?
    /// The apps whose consent is withdrawn, in order. The relay knows none.
    public var withdrawn: [AppID]?
    /// Creates the state of one conversation.
    public init(
      _ id: PersonID, limitsOn: Bool?, open: [QuestionID], known: [Known]?,
      settings: [Content]? = nil, withdrawn: [AppID]? = nil
    ) {
      self.settings = settings
      self.withdrawn = withdrawn
      self.id = id
      self.limitsOn = limitsOn
      self.open = open
      self.known = known
    }
  }

  /// The account and the age settings of a person. The relay knows neither.
  public struct Person: Hashable, Sendable, CustomStringConvertible {
    /// The person.
    public var id: PersonID
    /// The account; `nil` if nobody has set one.
    public var account: Account?
    /// The age settings.
    public var age: AgeSettings
    /// Creates the state of one person.
    public init(_ id: PersonID, account: Account?, age: AgeSettings) {
      (self.id, self.account, self.age) = (id, account, age)
    }
    /// The same text in every process, with the apps in order.
    public var description: String {
      let apps = age.apps.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
      return "Person(\(id), \(account as Any), \(age.sharing), \(apps), \(age.ceiling as Any), "
        + "\(age.sandbox as Any))"
    }
  }

  /// A known handle.
  public struct Known: Hashable, Sendable {
    /// The handle in canonical form.
    public var handle: Handle
    /// The only app in which the handle is known; `nil`: all apps.
    public var app: AppID?
    /// Creates a known handle.
    public init(_ handle: Handle, in app: AppID?) {
      self.handle = handle
      self.app = app
    }
  }

  /// The members and devices.
  public var roster: Roster
  /// The public key of the valid passcode; empty without one.
  public var passcodeKey: [UInt8]
  /// The generation of each audience whose channel the process uses, ascending.
  public var generations: [UInt64]
  /// The conversations, ascending by child.
  public var children: [Child]
  /// The persons whose accounts the process may read, ascending.
  public var persons: [Person]
  /// Creates the view of one process.
  public init(
    roster: Roster, passcodeKey: [UInt8], generations: [UInt64], children: [Child],
    persons: [Person] = []
  ) {
    self.persons = persons
    self.roster = roster
    self.passcodeKey = passcodeKey
    self.generations = generations
    self.children = children
  }
}
