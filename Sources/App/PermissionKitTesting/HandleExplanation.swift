import FamilyCore
import FamilyModel
public import Foundation
public import PermissionKit

/// Why a handle is known in the app of a ``TestFamily``, or is not.
///
/// Only tests, the child's own device and guardians receive explanations. An app on a device cannot
/// ask for one, because an explanation names the people who decided.
public struct HandleExplanation: Sendable, CustomStringConvertible {
  /// Whether the child's device knows the handle.
  public let isKnown: Bool
  /// The rule that decides ``isKnown``.
  ///
  /// One of `not-a-handle`, `never-asked`, `sending`, `waiting`, `expired`, `cancelled`,
  /// `approved`, `approval-ended`, `declined`, `withdrawn`, `contact`, `contact-removed`.
  public let rule: String
  /// The guardian who decided; `nil` if no person did.
  public let guardian: String?
  /// When the guardian decided, by the family's clock; `nil` if no person did.
  public let date: Date?
  /// When the answer changes without an act of a person; `nil` if it does not.
  public let nextChange: Date?
  /// Further facts that keep the app from using the handle, or from asking.
  ///
  /// Some of `unreadable`, `limits-off`, `consent-withdrawn`, `rated-above`, `not-taken`,
  /// `never-listened` and `not-named`.
  public let conditions: [String]
  /// Known handles of the child that resemble an unknown one.
  public let similar: [CommunicationHandle]

  /// The rule with its guardian, then the conditions and the similar handles, in one line.
  public var description: String {
    var text = "\(isKnown ? "known" : "not known"): \(rule)"
    if let guardian, let date { text += " by \(guardian) at \(date.formatted(.iso8601))" }
    if !conditions.isEmpty { text += "; \(conditions.joined(separator: ", "))" }
    if !similar.isEmpty { text += "; similar: \(similar.map(\.value).joined(separator: ", "))" }
    return text
  }

  init(_ explanation: FamilyCore.HandleExplanation, name: (PersonID) -> String?) {
    func date(_ instant: Instant) -> Date {
      Date(timeIntervalSince1970: Double(instant.milliseconds) / 1_000)
    }
    isKnown = explanation.isKnown
    rule = explanation.rule.name
    guardian = explanation.rule.decision.flatMap { name($0.by) }
    self.date = explanation.rule.decision.map { date($0.at) }
    nextChange = explanation.nextChange.map(date)
    conditions = explanation.conditions.map(\.name)
    similar = explanation.nearMisses.map { miss in
      switch miss {
      case .otherApp: CommunicationHandle(explanation.handle)
      case .otherKind(let handle), .otherSpelling(let handle): CommunicationHandle(handle)
      }
    }
  }
}

extension TestFamily {
  /// Why the handle is known in the app, or is not, as the child's device explains it.
  public func explain(_ handle: CommunicationHandle) -> HandleExplanation {
    perform { family in
      let explanation = family.child.explain(handle.model, in: family.app, now: family.now)
      return HandleExplanation(explanation) { family.roster.person($0)?.displayName }
    }
  }
}
