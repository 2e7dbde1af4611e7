@testable import FamilyCore
import FamilyModel
import Testing

private let today = day(2026, 11, 21)

@Suite struct AgeExplanationTests {
  private func why(_ rig: AgeFixture, _ gates: Int32...) -> AgeExplanation {
    rig.policy.explain(gates, of: AgeFixture.app, rig.state.memory(AgeFixture.app))
  }

  @Test("X6: an answer that holds names its day, its rule and the anniversary") func remembered()
    throws
  {
    var rig = AgeFixture(born: day(2012, 5, 17), today: today, sharing: .askFirst)
    #expect(why(rig, 13, 16).rule == .askFirst && why(rig, 13, 16).range == nil)
    _ = try rig.ask(13, 16)
    rig.policy.today = day(2027, 3, 1)
    let answer = why(rig, 13, 16)
    #expect(answer.rule == .rememberedAnswer && answer.range?.upper == 15)
    #expect(answer.answeredOn == today && answer.changesOn == day(2027, 11, 21))
    #expect(answer.sharing == .askFirst && !answer.isAppSetting && answer.act == nil)
    rig.policy.today = day(2027, 11, 21)
    #expect(why(rig, 13, 16).rule == .askFirst && why(rig, 13, 16).changesOn == nil)
  }

  @Test("X6: a refusal holds for a year") func refused() throws {
    var rig = AgeFixture(born: day(2012, 5, 17), today: today, sharing: .askFirst)
    rig.shares = false
    _ = try rig.ask(13, 16)
    let answer = why(rig, 13, 16)
    #expect(answer.rule == .rememberedRefusal && answer.range == nil)
    #expect(answer.answeredOn == today && answer.changesOn == day(2027, 11, 21))
  }

  @Test("X6: a setting names whether it is the app's own") func settings() {
    var rig = AgeFixture(born: day(2012, 5, 17), today: today, sharing: .always)
    #expect(why(rig, 13, 16).rule == .always && why(rig, 13, 16).range?.upper == 15)
    rig.policy.settings.apps[AgeFixture.app] = .never
    let never = why(rig, 13, 16)
    #expect(never.rule == .never && never.isAppSetting && never.range == nil)
  }

  @Test("X6: the law names its act, the gates that apply and its next change") func law() {
    var rig = AgeFixture(
      born: day(2012, 5, 17), today: day(2027, 5, 5), region: "US-UT", sharing: .never,
      made: day(2027, 5, 6))
    #expect(why(rig, 9).rule == .never && why(rig, 9).changesOn == day(2027, 5, 6))
    rig.policy.today = day(2027, 5, 6)
    let law = why(rig, 9)
    #expect(law.rule == .requiredByLaw && law.gates == [13, 16, 18] && law.range?.lower == 13)
    #expect(law.act?.contains("Utah Code 13-76") == true && law.changesOn == nil)
  }

  @Test("X6: names a missing birthdate, too many gates, and the sandbox") func others() throws {
    var rig = AgeFixture(born: day(1984, 5, 17), today: today)
    for first: Int32 in 1...6 {
      for second: Int32 in 8...17 { _ = try? rig.ask(first, second) }
    }
    #expect(why(rig, 6, 17).rule == .tooManyGates)
    rig.policy.settings.sandbox = .ages16To17
    #expect(why(rig, 3).rule == .sandbox && why(rig, 3).range?.lower == 16)
    rig.policy.settings.sandbox = nil
    rig.policy.account.birthdate = nil
    #expect(why(rig, 3).rule == .noBirthdate)
  }

  @Test("X6: an explanation repeats what the next request gives, and changes nothing") func agrees()
  {
    for seed in 1...300 as ClosedRange<UInt64> {
      let history = AgeHistory(seed: seed)
      var rig = AgeFixture(
        born: history.born, today: history.steps[0].day, region: history.region,
        isInFamily: history.isInFamily, sharing: history.sharing, made: history.made)
      for (day, step) in history.steps {
        rig.policy.today = day
        guard case .ask(let gates) = step else { continue }
        let memory = rig.state.memory(AgeFixture.app)
        let explained = rig.policy.explain(gates, of: AgeFixture.app, memory)
        #expect(rig.state.memory(AgeFixture.app) == memory)
        let prompts = rig.prompts
        let range = try? rig.ask(gates)
        if explained.rule == .askFirst {
          #expect(rig.prompts == prompts + 1, "seed \(seed)")
        } else {
          #expect(rig.prompts == prompts && explained.range == range, "seed \(seed)")
        }
      }
    }
  }

  @Test("D16, X6: the own device and a guardian's list the same answers") func devices() {
    var world = World.withAccount()
    world.askAge(1)
    world.answerPrompt(.share)
    let own = world.children[3]!.ageExplanations(now: world.now)
    #expect(own.map(\.rule) == [.rememberedAnswer] && own[0].changesOn == day(2027, 11, 21))
    let link = world.guardians[2]!.link
    let policy = AgePolicy(
      of: World.emily, in: link, regions: .standard,
      calendar: { now, _ in Account.Day(utc: now) }, now: world.now)
    let memory = link.age(of: World.emily).memory(World.app)
    #expect(policy?.explanations(of: World.app, memory) == own)
    // Another member of the family may read nothing.
    #expect(
      AgePolicy(
        of: World.emily, in: world.children[5]!.link, regions: .standard,
        calendar: { now, _ in Account.Day(utc: now) }, now: world.now) == nil)
  }
}
