import FamilyModel
import Testing

@testable import FamilyCore

@Suite struct RatingTests {
  @Test("D13: an app reads its own rating, even above the ceiling") func ownRating() {
    var world = World.withAccount()
    world.guardian(1, .setAge(World.emily, World.settings(.always, ceiling: .four)))
    world.child(3, .app(World.app, .rating(1)))
    world.child(3, .app(World.otherApp, .rating(2)))
    world.child(3, .app(AppID("example.unknown"), .rating(3)))
    #expect(world.ageReply(1) == .rating(.nine))
    #expect(world.seen[3]!.contains(.app(World.otherApp, .age(2, .rating(nil)))))
    #expect(
      world.seen[3]!.contains(.app(AppID("example.unknown"), .age(3, .failed(.notEnrolled)))))
  }

  @Test("D13: the device reports a rating that rises, once, and no other change")
  func risingRating() {
    var world = World.withAccount()
    func notices(after rating: AgeRating?) -> [Notice] {
      world.manifests[World.app]?.ageRating = rating
      world.restoreChild(3, 3)
      world.forgetSeen()
      world.connect(3)
      return world.notices(on: 3)
    }
    #expect(notices(after: .nine) == [])
    #expect(notices(after: .thirteen) == [.ratingRaised(World.app, .thirteen)])
    #expect(notices(after: .thirteen) == [])
    #expect(notices(after: .four) == [])
    // An app without a rating counts as the highest.
    #expect(notices(after: nil) == [.ratingRaised(World.app, .eighteen)])
    #expect(notices(after: nil) == [])
  }
}
