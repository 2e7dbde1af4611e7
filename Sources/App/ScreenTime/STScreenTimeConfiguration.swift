/// The restrictions on this device.
public final class STScreenTimeConfiguration: Sendable {
  /// Whether rules of guardians or an authorized app restrict the web for the device's owner, or its use is
  /// reported.
  ///
  /// `false` for an adult, without a family, and while every site is allowed and nothing is reported.
  public let enforcesChildRestrictions: Bool

  init(enforcesChildRestrictions: Bool) {
    self.enforcesChildRestrictions = enforcesChildRestrictions
  }
}
