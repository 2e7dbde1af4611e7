import FamilyModel

/// Sealing and signing. Nothing here changes state.
extension CommandSender {
  enum SealOutcome {
    /// Ready to be sent.
    case sealed(SignedCommand)
    /// The audience's readers have no key in common yet: make one and share it first.
    case lacksKey(Audience, readers: [Device])
    /// The key is shared but not acknowledged, or a part of the family's log is missing.
    case blocked
    /// This device does not have the question, so it cannot sign a command about it.
    case unknownQuestion
    /// No relay accepts the command any more: it shares keys with a device that reads the audience
    /// no longer, or its roster is not valid.
    case invalid(Problem)
  }

  /// Seals the command's content for its readers and signs the event that the command leads to.
  ///
  /// A roster is made from the present roster and the changes that its author intended: the
  /// differences from the roster at `basedOnSeq`. A roster from before a removal therefore brings
  /// back no device.
  ///
  /// - Parameter present: The relay's time, by which an old key is replaced; `nil`: a key of any age
  ///   seals.
  func seal(
    _ command: Command, id: CommandID, basedOnSeq: UInt64? = nil, family: FamilyProjection,
    verifier: EventVerifier?, isBehind: Bool, at present: Instant?
  ) -> SealOutcome {
    guard let verifier else { return .sealed(SignedCommand(id: id, command: command)) }
    guard !isBehind else { return .blocked }
    var command = command
    if case .shareKeys(let audience, let wraps) = command {
      do throws(Problem) { try family.roster.check(wraps, in: audience) } catch {
        return .invalid(.badKeyShare)
      }
    }
    if case .addChild(let name) = command {
      guard verifier.roster != nil else { return .blocked }
      command = .setRoster(verifier.step(to: family.roster(adding: name, as: .child)))
    } else if case .setRoster(let next) = command, let basedOnSeq {
      let base = verifier.roster(at: basedOnSeq) ?? Roster()
      command = .setRoster(verifier.step(to: family.roster(applying: base, next)))
    }
    // Other guardians may have taken the last place.
    if case .setRoster(let next) = command {
      do throws(Problem) { try next.validate() } catch { return .invalid(error) }
    }
    func header(_ id: QuestionID) -> QuestionHeader? { family.question(id)?.header }
    // The relay may have the question and accept the command, but no device accepts it unsigned.
    guard let audience = command.outcome(question: header)?.audience else {
      return .unknownQuestion
    }
    if let content = command.content {
      guard verifier.roster != nil else { return .blocked }
      let readers = family.roster.readers(of: audience)
      guard
        let key = verifier.ring.usable(
          audience, for: readers, own: verifier.vault.agreementKey), let secret = key.secret
      else {
        return .lacksKey(audience, readers: readers)
      }
      guard key.isShared else { return .blocked }
      if let present, key.isOld(at: present), outbox.hasRoomForKeys,
        verifier.ring.mayReplace(audience, by: address.device, at: ids.newestEvent)
      {
        return .lacksKey(audience, readers: readers)
      }
      var subjects: [UInt8] = []
      if case .question(let question) = content, let app = command.app {
        subjects = verifier.subjects(of: question, in: app, secret)
      }
      let binding = EventVerifier.binding(verifier.family, audience, id)
      let sealed = verifier.vault.seal(
        content, key.name, verifier.vault.contentKey(secret, binding), binding: binding)
      command = command.replacing(sealed, subjects: subjects)
    }
    guard let (_, body) = command.outcome(question: header) else { return .blocked }
    let signature = verifier.sign(
      id, audience, body, by: address.device, question: body.laterQuestion.flatMap(header))
    return .sealed(SignedCommand(id: id, command: command, signature: signature))
  }

  /// Signs a key share: its wraps are sealed already, one for each reader.
  func sign(
    _ wraps: [KeyWrap], id: CommandID, _ audience: Audience, verifier: EventVerifier?
  ) -> SignedCommand {
    let signature = verifier?.sign(
      id, audience, .keysShared(wraps), by: address.device, question: nil)
    return SignedCommand(id: id, command: .shareKeys(audience, wraps), signature: signature)
  }
}

extension Command {
  /// The app of a question.
  fileprivate var app: AppID? {
    switch self {
    case .ask(let header, _), .answerInPerson(let header, _, _, _): header.app
    default: nil
    }
  }
}
