/// The part of a person's account that only the person and, for a child, the guardians may read.
public struct Account: Hashable, Sendable {
  /// The method by which the birthdate was declared.
  public enum Declaration: UInt8, Sendable, CaseIterable {
    /// By the person.
    case selfDeclared = 1
    /// By a guardian.
    case guardianDeclared = 2
    /// By the person, and checked by a method that is not listed below.
    case checkedByOtherMethod = 3
    /// By a guardian whose account is checked by a method that is not listed below.
    case guardianCheckedByOtherMethod = 4
    /// By the person, and checked by an identity document.
    case governmentIDChecked = 5
    /// By a guardian whose account is checked by an identity document.
    case guardianGovernmentIDChecked = 6
    /// By the person, and checked by a means of payment.
    case paymentChecked = 7
    /// By a guardian whose account is checked by a means of payment.
    case guardianPaymentChecked = 8
    /// By a checked method that is not disclosed.
    case confirmed = 9
  }
  /// A calendar day.
  public struct Day: Hashable, Sendable {
    /// For example 2014.
    public var year: Int32
    /// 1 to 12.
    public var month: UInt8
    /// 1 to 31.
    public var day: UInt8
    /// Creates a day; the values are not checked.
    public init(year: Int32, month: UInt8, day: UInt8) {
      self.year = year
      self.month = month
      self.day = day
    }
  }
  /// The day of birth; `nil` if unknown.
  public var birthdate: Day?
  /// ISO 3166-1 alpha-2 or ISO 3166-2, for example `FR` or `US-TX`.
  public var region: String
  /// The method by which the birthdate was declared.
  public var declaration: Declaration
  /// The time zone in which the person's days begin, for example `Europe/Paris`; empty: the
  /// device's.
  public var timeZone: String
  /// Creates an account.
  public init(birthdate: Day?, region: String, declaration: Declaration, timeZone: String = "") {
    self.birthdate = birthdate
    self.region = region
    self.declaration = declaration
    self.timeZone = timeZone
  }
}
