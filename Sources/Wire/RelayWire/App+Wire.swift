public import FamilyModel
import Foundation
import SwiftProtobuf

extension AppRequest {
  /// Encodes the request as the body frame of a message.
  public func encode() -> [UInt8] {
    var message = PBAppRequest()
    message.version = Wire.version
    switch self {
    case .attach(let app, let applied):
      message.attach = .with {
        $0.app = app.rawValue
        $0.applied = applied
      }
    case .register: message.register = PBEmpty()
    case .ask(let question, let manner, let window):
      message.ask = question.wire
      message.manner = UInt32(manner.rawValue)
      message.window = window
    case .acknowledge(let position): message.acknowledge = position
    case .detach: message.detach = PBEmpty()
    case .age(let id, let gates, let window):
      message.age = .with {
        $0.id = id
        $0.asksRange = gates != nil
        $0.gates = gates ?? []
      }
      message.window = window
    case .rating(let id): message.rating = id
    case .rejected(let problem): message.disbelieved = problem.wire
    case .ping: message.ping = PBEmpty()
    case .name(let handles): message.name = .with { $0.handles = handles.map(\.wire) }
    case .sites(let sites): message.sites = .with { $0.sites = sites.map(\.name) }
    case .manage(let name, let settings): message.manage = settings.wire(name)
    case .watch(let activity): message.watch = activity.wire
    case .unwatch(let name): message.unwatch = name
    case .safety: message.safety = PBEmpty()
    case .analyze(let number, let picture):
      message.analyze = .with {
        $0.number = number
        $0.picture = picture.wire
      }
    case .useWeb(let number, let pages): message.useWeb = pages.wire(number)
    case .deleteWebUse(let number, let part): message.deleteUse = part.wire(number)
    }
    return Wire.encode(message)
  }

  /// Decodes a body frame.
  ///
  /// - Throws: `unsupportedVersion`, `malformed`, `tooLarge` or `unknownRequest`.
  public static func decode(_ bytes: UnsafeRawBufferPointer) throws(Problem) -> AppRequest {
    let message = try Wire.parse(PBAppRequest.self, bytes)
    try Wire.check(version: message.version)
    guard message.window.utf8.count <= Limits.windowBytes else { throw .tooLarge }
    switch message.body {
    case .attach(let attach):
      return .attach(app: AppID(attach.app), applied: attach.applied)
    case .register: return .register
    case .ask(let question):
      let manner = try Wire.require(UInt8(exactly: message.manner).flatMap(AskManner.init))
      return .ask(try Question(question), manner, window: message.window)
    case .acknowledge(let position): return .acknowledge(position)
    case .detach: return .detach
    case .age(let ask):
      guard ask.gates.count <= Limits.identifierBytes else { throw .tooLarge }
      return .age(ask.id, gates: ask.asksRange ? ask.gates : nil, window: message.window)
    case .rating(let id): return .rating(id)
    case .disbelieved(let problem): return .rejected(try Problem(problem))
    case .ping: return .ping
    case .name(let list):
      return .name(try handles(list.handles, limit: Limits.namesInMessage))
    case .sites(let list):
      return .sites(try Wire.sites(list.sites, limit: Limits.sitesInMessage))
    case .manage(let store): return .manage(store.name, try ManagedSettings(store))
    case .watch(let activity): return .watch(try Activity(activity))
    case .unwatch(let name): return .unwatch(name)
    case .safety: return .safety
    // The device checks the size, so that its refusal has the number.
    case .analyze(let picture): return .analyze(picture.number, Avatar(picture.picture))
    case .useWeb(let pages): return .useWeb(pages.number, try ShownPages(pages))
    case .deleteUse(let deletion):
      return .deleteWebUse(deletion.number, try WebHistoryPart(deletion))
    case nil: throw .unknownRequest
    }
  }
}

private func handles(_ list: [PBHandle], limit: Int = .max) throws(Problem) -> [Handle] {
  try Wire.map(list, limit: limit) { handle throws(Problem) in try Handle(handle) }
}

extension AppEntry {
  var wire: PBAppEntry {
    .with { message in
      message.position = position
      message.evidence = evidence.map(\.wire)
      switch body {
      case .response(let question, let choice):
        message.response = .with {
          $0.question = question.wire
          $0.choice = UInt32(question.choices.firstIndex(of: choice) ?? question.choices.count)
        }
      case .known(let handles): message.known = .with { $0.handles = handles.map(\.wire) }
      case .forgotten(let handles): message.forgotten = .with { $0.handles = handles.map(\.wire) }
      case .consentWithdrawn: message.consentWithdrawn = PBEmpty()
      case .consentGiven: message.consentGiven = PBEmpty()
      case .activity(let name, let number, let moment, let time):
        message.activity = RelayWire.wire(name, number, moment, at: time)
      }
    }
  }

  init(_ wire: PBAppEntry) throws(Problem) {
    let body: Body
    switch wire.body {
    case .response(let response):
      let question = try Question(response.question)
      guard response.choice < question.choices.count else { throw .malformed }
      body = .response(question, question.choices[Int(response.choice)])
    case .known(let list): body = .known(try handles(list.handles))
    case .forgotten(let list): body = .forgotten(try handles(list.handles))
    case .consentWithdrawn: body = .consentWithdrawn
    case .consentGiven: body = .consentGiven
    case .activity(let moment):
      body = .activity(
        moment.activity, moment.number, try ActivityMoment(moment),
        at: Instant(milliseconds: moment.at))
    case nil: throw .malformed
    }
    self.init(position: wire.position, body: body, evidence: try evidenceList(wire.evidence))
  }
}

extension AppReply {
  /// Encodes the reply as the body frame of a message.
  public func encode() -> [UInt8] {
    var message = PBAppReply()
    message.version = Wire.version
    switch self {
    case .attached(let position): message.attached = position
    case .reset(let position, let known):
      message.reset = .with {
        $0.position = position
        $0.known = known.map(\.wire)
      }
    case .entry(let entry): message.entry = entry.wire
    case .roster(let proof): message.roster = proof.wire
    case .evidence(let evidence): message.evidence = .with { $0.evidence = evidence.map(\.wire) }
    case .caughtUp: message.caughtUp = PBEmpty()
    case .asked(let id, let outcome):
      message.asked = .with {
        $0.question = Data(id.bytes)
        switch outcome {
        case .sent: $0.sent = PBEmpty()
        case .cancelled: $0.cancelled = PBEmpty()
        case .alreadyAsked(let open): $0.alreadyAsked = Data(open.bytes)
        case .answeredByDefault: $0.byDefault = PBEmpty()
        case .refused(let problem): $0.refused = problem.wire
        case .answeredInPerson(let approved): $0.inPerson = approved
        case .acknowledged: $0.acknowledged = PBEmpty()
        }
      }
    case .failed(let problem): message.failed = problem.wire
    case .age(let id, let reply): message.age = wire(id, reply)
    case .pong: message.pong = PBEmpty()
    case .named(let handles): message.named = .with { $0.handles = handles.map(\.wire) }
    case .sites(let sites, let isRestricted):
      message.sites = .with {
        $0.sites = sites.map(\.wire)
        $0.restricted = isRestricted
      }
    case .sitesChanged: message.sitesChanged = PBEmpty()
    case .managed(let name, let problem):
      message.managed = .with {
        $0.name = name
        if let problem { $0.refused = problem.wire }
      }
    case .watched(let name, let number, let problem, let time):
      message.watched = .with {
        $0.activity = name
        $0.number = number
        $0.at = time.milliseconds
        if let problem { $0.refused = problem.wire }
      }
    case .safety(let setting): message.safety = UInt32(setting.rawValue)
    case .analyzed(let number, let analysis): message.analyzed = wire(number, analysis)
    case .webUsed(let number): message.webUsed = number
    }
    return Wire.encode(message)
  }

  /// Decodes a body frame.
  ///
  /// - Throws: `unsupportedVersion`, `malformed`, `tooLarge` or `unknownRequest`.
  public static func decode(_ bytes: UnsafeRawBufferPointer) throws(Problem) -> AppReply {
    let message = try Wire.parse(PBAppReply.self, bytes)
    try Wire.check(version: message.version)
    switch message.body {
    case .attached(let position): return .attached(acknowledged: position)
    case .reset(let reset):
      return .reset(position: reset.position, known: try handles(reset.known))
    case .entry(let entry): return .entry(try AppEntry(entry))
    case .roster(let proof): return .roster(try RosterProof(proof))
    case .evidence(let list): return .evidence(try evidenceList(list.evidence))
    case .caughtUp: return .caughtUp
    case .asked(let asking): return .asked(try Wire.id(asking.question), try outcome(asking))
    case .failed(let problem): return .failed(try Problem(problem))
    case .age(let told): return .age(told.id, try ageReply(told))
    case .pong: return .pong
    case .named(let list): return .named(try handles(list.handles))
    case .sites(let list):
      let sites = try Wire.map(list.sites, limit: Limits.sitesInMessage) { site throws(Problem) in
        try SiteAccess(site)
      }
      return .sites(sites, isRestricted: list.restricted)
    case .sitesChanged: return .sitesChanged
    case .managed(let managed):
      return .managed(managed.name, managed.hasRefused ? try Problem(managed.refused) : nil)
    case .watched(let watched):
      return .watched(
        watched.activity, watched.number,
        watched.hasRefused ? try Problem(watched.refused) : nil,
        at: Instant(milliseconds: watched.at))
    case .safety(let setting): return .safety(try CommunicationSafety(wire: setting))
    case .webUsed(let number): return .webUsed(number)
    case .analyzed(let verdict): return .analyzed(verdict.number, try PictureAnalysis(verdict))
    case nil: throw .unknownRequest
    }
  }

  private static func outcome(_ asking: PBAsking) throws(Problem) -> AskOutcome {
    switch asking.outcome {
    case .sent: return .sent
    case .cancelled: return .cancelled
    case .alreadyAsked(let id): return .alreadyAsked(try Wire.id(id))
    case .byDefault: return .answeredByDefault
    case .refused(let problem): return .refused(try Problem(problem))
    case .inPerson(let approved): return .answeredInPerson(approved: approved)
    case .acknowledged: return .acknowledged
    case nil: throw .malformed
    }
  }
}
