import Testing

/// The contract of `EventStore`, checked against each engine.
@Suite struct ConformanceTests {
  @Test("an engine keeps the contract", arguments: Engine.allCases, Rule.allCases)
  func contract(_ engine: Engine, _ rule: Rule) {
    #expect(rule.violations(in: engine) == [])
  }

  @Test("a mutant of an engine breaks its rule", arguments: Mutant.allCases)
  func mutants(_ mutant: Mutant) {
    #expect(mutant.rule.violations(in: mutant.engine, with: mutant) != [])
  }

  @Test("each rule finds a mutant") func complete() {
    #expect(Set(Mutant.allCases.map(\.rule)) == Set(Rule.allCases))
  }
}
