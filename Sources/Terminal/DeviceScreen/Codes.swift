import DeviceAgent
import FamilyCore
import FamilyModel
import Foundation
import SystemClock
import Wording

// The names of values in documents and acts.

/// A value that acts name.
protocol Coded: CaseIterable {
  var code: String { get }
}

extension Coded {
  init?(code: String) {
    guard let value = Self.allCases.first(where: { $0.code == code }) else { return nil }
    self = value
  }
}

extension Handle.Kind: Coded {
  var code: String {
    switch self {
    case .phoneNumber: "phone"
    case .emailAddress: "email"
    case .custom: "custom"
    case .site: "site"
    case .authorization: "authorization"
    }
  }
}

extension AgeSharing: Coded {
  var code: String {
    switch self {
    case .always: "always"
    case .askFirst: "ask"
    case .never: "never"
    }
  }
}

extension WebAccess: Coded {
  var code: String {
    switch self {
    case .allow: "allow"
    case .block: "block"
    case .ask: "ask"
    }
  }
}

extension CommunicationSafety: Coded {
  var code: String {
    switch self {
    case .off: "off"
    case .simple: "simple"
    case .descriptive: "descriptive"
    }
  }
}

extension Role {
  var code: String {
    switch self {
    case .organizer: "organizer"
    case .guardian: "guardian"
    case .child: "child"
    case .adult: "adult"
    }
  }
}

extension RelayState {
  var code: String {
    switch self {
    case .unused: "unused"
    case .connecting: "connecting"
    case .connected: "connected"
    case .unreachable: "unreachable"
    case .wrongRelay: "wrongRelay"
    }
  }
}

extension DeliveryState {
  var code: String {
    switch self {
    case .sending: "sending"
    case .sent: "sent"
    case .delivered: "delivered"
    case .read: "read"
    case .answered: "answered"
    }
  }
}

extension Answer {
  var code: String {
    switch self {
    case .approval: "approval"
    case .denial: "denial"
    }
  }
}

extension Topic.Kind {
  var code: String {
    switch self {
    case .communication: "communication"
    case .significantUpdate: "significantUpdate"
    case .browse: "browse"
    case .authorization: "authorization"
    }
  }
}

extension Notice {
  /// The name of a notice that devices keep.
  var code: String {
    switch self {
    case .decided: "decided"
    case .message: "message"
    case .reminded: "reminded"
    case .withdrawn: "withdrawn"
    case .ageShared: "ageShared"
    case .ratingsRaised: "ratingsRaised"
    case .deviceAdded: "deviceAdded"
    case .refused, .noPasscode, .passcodeNotSet, .ratingRaised, .eventRejected, .historyLost,
      .unopened, .appRejected, .wantsToJoin, .shutOut:
      "other"
    }
  }
}

extension DeviceAddress {
  /// The family and the device, for example `1-3`.
  var key: String { "\(family.rawValue)-\(device.rawValue)" }
}

extension ID128 {
  init?(code: String) {
    guard let uuid = UUID(uuidString: code) else { return nil }
    self.init(uuid)
  }
}

extension String {
  /// The text with its line breaks and without other controls.
  var sanitizedLines: String {
    split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
      .map { String($0).sanitized }.joined(separator: "\n")
  }
}
