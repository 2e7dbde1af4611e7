import FamilyModel

/// Events that another member knew and that the relay does not send.
///
/// A signature names what its signer knew. An event of a signer who knew more of the family than
/// this device is deferred, and a beat also names the heads of other audiences. Such an event is
/// usual for a moment, and after ``Limits/withheldTime`` of connected time a reason for a report.
/// One report covers the time until no deferred event waits.
extension DeviceLink {
  /// The time for which the device, while attached, has waited for an event of the family.
  struct Withholding: Sendable {
    var waited = Milliseconds.zero
    /// When the device last added to `waited`; `nil` while it is not attached.
    var last: Instant?
    var isReported = false
  }

  /// When the device reports the withheld events.
  var withheldDue: Instant? {
    guard state == .attached, let withholding, !withholding.isReported else { return nil }
    return withholding.last.map { $0 + (Limits.withheldTime - withholding.waited) }
  }

  /// Adds to the time, and reports it once.
  mutating func checkWithheld(now: Instant, into out: inout Output) {
    let behind = audiencesBehind()
    guard verifier?.deferred.awaitsFamily ?? false || !behind.isEmpty else {
      withholding = nil
      return
    }
    guard state == .attached else { return }
    var present = withholding ?? Withholding()
    if let last = present.last, last < now { present.waited += now - last }
    present.last = now
    let isDue = present.waited >= Limits.withheldTime && !present.isReported
    if isDue { present.isReported = true }
    withholding = present
    guard isDue else { return }
    out.rejected.append(.withheld)
    for audience in [.family] + behind { fetch(audience, now: now, into: &out) }
  }
}
