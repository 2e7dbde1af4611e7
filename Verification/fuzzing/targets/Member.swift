import FamilyModel

/// The families from which the runs start, one for each dishonest member.
private let households: [Household] = [11, 20, 31, 50].map { Household.afterOneDay(member: $0) }

/// Runs a family of real machines in which one member does what its keys allow, and checks what the
/// others hold at rest.
func fuzzMember(_ bytes: UnsafeRawBufferPointer) {
  var input = Bytes(bytes)
  var house = household(&input)
  var steps = 0
  while !input.isAtEnd, steps < 24 {
    steps += 1
    if input.isRare(3) { house.live(&input) } else { house.attack(&input) }
  }
  house.checkAtRest()
}

/// Runs a few acts of such a member. Only traps and the invariants of single steps count.
func fuzzActs(_ bytes: UnsafeRawBufferPointer) {
  var input = Bytes(bytes)
  var house = household(&input)
  var acts = 0
  while !input.isAtEnd, acts < 4 {
    acts += 1
    house.attack(&input)
  }
}

/// The family of the member that the input names.
private func household(_ input: inout Bytes) -> Household {
  let first = input.byte()
  var house = households[Int(first & 3)]
  house.knowsPasscode = first & 4 != 0
  IdealVault.made.withLock { $0 = 1 << 32 }
  return house
}
