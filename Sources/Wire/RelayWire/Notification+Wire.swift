import FamilyCore
import FamilyModel
import Foundation
import SwiftProtobuf

extension DeviceNotification {
  /// Precondition: the notice is one that devices keep.
  var wire: PBNotification {
    .with {
      $0.id = Data(id.bytes)
      $0.at = at.milliseconds
      $0.read = isRead
      switch notice {
      case .decided(let question, let choice, let person):
        $0.decided = .with {
          $0.question = Data(question.bytes)
          $0.choice = choice.wire
          $0.person = person.rawValue
        }
      case .withdrawn(let withdrawal, let person):
        $0.withdrawn = .with {
          $0.withdrawal = withdrawal.wire
          $0.person = person.rawValue
        }
      case .ageShared(let app, let range):
        $0.ageShared = .with {
          $0.app = app.rawValue
          $0.range = range.wire
        }
      case .message(let child, let person, let seq):
        $0.message = .with {
          $0.child = child.rawValue
          $0.person = person.rawValue
          $0.seq = seq
        }
      case .reminded(let question): $0.reminded = Data(question.bytes)
      case .ratingsRaised(let child, let risen):
        $0.ratingsRaised = .with {
          $0.child = child.rawValue
          $0.apps = risen.map { app in
            .with {
              $0.app = app.app.rawValue
              $0.rating = UInt32(app.rating.rawValue)
            }
          }
        }
      case .deviceAdded(let device, let owner):
        $0.deviceAdded = .with {
          $0.device = device.rawValue
          $0.person = owner.rawValue
        }
      case .refused, .noPasscode, .passcodeNotSet, .eventRejected, .historyLost, .unopened,
        .appRejected,
        .wantsToJoin,
        .shutOut,
        .ratingRaised:
        preconditionFailure("this notice is not kept")
      }
    }
  }

  init(_ wire: PBNotification) throws(Problem) {
    let notice: Notice
    switch wire.notice {
    case .decided(let decided):
      notice = .decided(
        try Wire.id(decided.question), try ChoiceHeader(decided.choice),
        by: PersonID(decided.person))
    case .withdrawn(let withdrawn):
      notice = .withdrawn(try Withdrawal(withdrawn.withdrawal), by: PersonID(withdrawn.person))
    case .ageShared(let shared):
      notice = .ageShared(AppID(shared.app), try AgeRange(shared.range))
    case .message(let message):
      notice = .message(
        child: PersonID(message.child), from: PersonID(message.person), seq: message.seq)
    case .reminded(let question): notice = .reminded(try Wire.id(question))
    case .ratingsRaised(let raised):
      notice = .ratingsRaised(
        child: PersonID(raised.child),
        try Wire.map(raised.apps, limit: Limits.listedApps) { app throws(Problem) in
          let rating = try Wire.require(try AgeRating?(wire: app.rating))
          return RisenRating(app: AppID(app.app), rating: rating)
        })
    case .deviceAdded(let added):
      notice = .deviceAdded(DeviceID(added.device), of: PersonID(added.person))
    case nil: throw .malformed
    }
    self.init(
      id: try Wire.id(wire.id), at: Instant(milliseconds: wire.at), notice: notice,
      isRead: wire.read)
  }
}
