import FamilyModel

/// The families from which the runs start, one for each dishonest member.
private let households: [Household] = [11, 20, 31, 50].map { Household.afterOneDay(member: $0) }

/// Runs a family of real machines in which one member does what its keys allow.
func fuzzMember(_ bytes: UnsafeRawBufferPointer) {
  var input = Bytes(bytes)
  let first = input.byte()
  var house = households[Int(first & 3)]
  house.knowsPasscode = first & 4 != 0
  IdealVault.made.withLock { $0 = 1 << 32 }
  var steps = 0
  while !input.isAtEnd, steps < 24 {
    steps += 1
    if input.isRare(3) { house.live(&input) } else { house.attack(&input) }
  }
  house.checkAtRest()
}
