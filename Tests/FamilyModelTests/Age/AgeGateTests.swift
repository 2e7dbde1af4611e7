import FamilyModel
import Testing

private func problem(_ gates: [Int32]) -> Problem? {
  do throws(Problem) {
    try AgeGates.check(gates)
    return nil
  } catch { return error }
}

@Suite struct AgeGateTests {
  @Test(
    "D1: accepts one to three positive gates, ascending, two years apart",
    arguments: [[1], [13], [13, 16], [13, 15], [13, 16, 18], [2, 4, 6], [99]] as [[Int32]])
  func good(_ gates: [Int32]) { #expect(problem(gates) == nil) }

  @Test(
    "D1: refuses other gates",
    arguments: [
      [], [0], [-1], [13, 14], [13, 13], [16, 13], [13, 16, 17], [12, 14, 16, 18], [0, 13],
      [.min, .max],
    ] as [[Int32]])
  func bad(_ gates: [Int32]) { #expect(problem(gates) == .badAgeGates) }

  @Test("D2: a gate above majority counts as majority") func clamped() {
    #expect(AgeGates.clamped([13, 16], majority: 18) == [13, 16])
    #expect(AgeGates.clamped([13, 16, 18], majority: 18) == [13, 16, 18])
    #expect(AgeGates.clamped([13, 16, 25], majority: 18) == [13, 16, 18])
    #expect(AgeGates.clamped([21], majority: 18) == [18])
    #expect(AgeGates.clamped([16, 19, 25], majority: 18) == [16, 18])
    #expect(AgeGates.clamped([16, 19, 25], majority: 21) == [16, 19, 21])
  }

  @Test("D2: clamping creates no range of one year") func clampedApart() {
    #expect(AgeGates.clamped([17, 19], majority: 18) == [18])
    #expect(AgeGates.clamped([15, 17, 19], majority: 18) == [15, 18])
    // An app's own gate two years below majority stays.
    #expect(AgeGates.clamped([17], majority: 18) == [17])
  }

  @Test("D4: the declaration that an app receives") func declarations() {
    func told(_ age: Int32, _ isInFamily: Bool, _ d: Account.Declaration = .selfDeclared)
      -> Account.Declaration
    { d.disclosed(age: age, majority: 18, isInFamily: isInFamily) }
    #expect(told(9, true) == .guardianDeclared && told(9, false) == .guardianDeclared)
    #expect(told(14, true) == .guardianDeclared && told(14, false) == .selfDeclared)
    #expect(told(18, true) == .selfDeclared && told(42, true) == .selfDeclared)
    #expect(told(42, true, .guardianDeclared) == .selfDeclared)
    #expect(told(16, true, .guardianPaymentChecked) == .guardianPaymentChecked)
    #expect(told(42, true, .guardianPaymentChecked) == .paymentChecked)
    #expect(told(14, false, .governmentIDChecked) == .governmentIDChecked)
    #expect(told(9, true, .checkedByOtherMethod) == .guardianCheckedByOtherMethod)
  }

  @Test("D13: disallows an app above the ceiling or without a rating") func ratings() {
    #expect(AgeRating.allCases.map(\.rawValue) == [4, 9, 13, 16, 18])
    let nine = AppManifest(ageRating: .nine)
    #expect(nine.isAllowed(by: nil) && nine.isAllowed(by: .nine) && nine.isAllowed(by: .sixteen))
    #expect(!nine.isAllowed(by: .four))
    #expect(!AppManifest().isAllowed(by: .sixteen) && AppManifest().isAllowed(by: nil))
  }
}
