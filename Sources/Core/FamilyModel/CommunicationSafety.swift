/// How a child's device treats sensitive pictures, which guardians choose.
public enum CommunicationSafety: UInt8, Sendable, CaseIterable {
  /// Pictures are not checked.
  case off = 0
  /// A sensitive picture is blurred.
  case simple = 1
  /// A sensitive picture is blurred, and the child reads an explanation.
  case descriptive = 2
}
