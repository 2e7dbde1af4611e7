package import FamilyModel

/// Digests of a question's subjects that can be revealed one by one.
///
/// The relay sees one digest of all subjects. A reader with the content key can compute it. An app
/// receives the keys of the tags that it may know, which reveal nothing about the others.
extension EvidenceVault {
  /// The tags of the question's subjects and app, keyed by the conversation's content key.
  package func tags(of question: Question, in app: AppID, _ secret: [UInt8]) -> SubjectTags {
    func key(_ purpose: String, _ part: [UInt8]) -> [UInt8] {
      var bytes = BoundBytes(purpose)
      bytes.add(app.rawValue)
      bytes.add(part)
      return digest(bytes.bytes, under: secret)
    }
    let appKey = key("permission-relay app key 1", [])
    return SubjectTags(
      app: tag(of: app, appKey), appKey: appKey,
      items: question.items.map { item in
        let key = key("permission-relay subject key 1", item)
        return SubjectTags.Tag(tag: tag(of: item, key), key: key, item: item)
      })
  }

  /// The digest of the tags that the question's header carries.
  package func subjects(_ tags: SubjectTags) -> [UInt8] {
    var bytes = BoundBytes("permission-relay subjects 2")
    bytes.add(tags.app)
    bytes.add(UInt32(tags.items.count))
    for item in tags.items { bytes.add(item.tag) }
    return digest(bytes.bytes)
  }

  /// Verifies the tags against the header, and the revealed tags against their items.
  ///
  /// - Returns: Whether the question is the app's own, and the items that the app may know; `nil`
  ///   if a digest differs.
  func read(_ tags: SubjectTags, of header: QuestionHeader, in app: AppID)
    -> (isOwn: Bool, items: [[UInt8]])?
  {
    guard subjects(tags) == header.subjects else { return nil }
    var items: [[UInt8]] = []
    for item in tags.items where !item.key.isEmpty {
      guard tag(of: item.item, item.key) == item.tag else { return nil }
      items.append(item.item)
    }
    let isOwn = !tags.appKey.isEmpty && tag(of: app, tags.appKey) == tags.app
    return (isOwn, items)
  }

  private func tag(of app: AppID, _ key: [UInt8]) -> [UInt8] {
    tag(of: Array(app.rawValue.utf8), key)
  }

  private func tag(of item: [UInt8], _ key: [UInt8]) -> [UInt8] {
    digest(BoundBytes("permission-relay subject 1").bytes + item, under: key)
  }
}

extension SubjectTags {
  /// The tags for an app that has named these handles.
  ///
  /// Other handles stay hidden. For another app, custom names and updates stay hidden as well: only
  /// numbers and addresses, which all apps share, and the ends of approvals are revealed.
  ///
  /// - Parameter isOwn: Whether the app asked the question.
  func revealing(_ named: HandleSet, isOwn: Bool) -> SubjectTags {
    SubjectTags(
      app: app, appKey: isOwn ? appKey : [],
      items: items.map { item in
        guard let handle = Handle(item: item.item) else {
          return isOwn || item.item.isEnd ? item : Tag(tag: item.tag)
        }
        let isShared = isOwn || !handle.kind.isOfOneApp
        return isShared && named.contains(handle) ? item : Tag(tag: item.tag)
      })
  }
}

extension Handle {
  /// The handle in a tag's item.
  init?(item: [UInt8]) {
    guard let kind = item.first.flatMap(Kind.init) else { return nil }
    self.init(String(decoding: item.dropFirst(), as: UTF8.self), kind)
  }

  var item: [UInt8] { [kind.rawValue] + value.utf8 }
}

extension Question {
  /// The subjects in order: handles in canonical form, or an update's description. The ends of the
  /// choices follow, so that a guardian's decision signs them and the relay reads none.
  var items: [[UInt8]] {
    let ends = choices.enumerated().compactMap { index, choice in
      choice.end?.item(ofChoice: index)
    }
    return switch topic {
    case .communication, .browse, .authorization:
      topic.handles.map(\.canonical).sorted().map(\.item) + ends
    case .significantUpdate(let text): [[0xFF] + text.utf8] + ends
    }
  }
}

extension ChoiceEnd {
  /// The item of a tag: FE, the choice's index, 1 for a duration or 2 for a moment, and milliseconds
  /// in eight bytes, most significant first.
  func item(ofChoice index: Int) -> [UInt8] {
    let (kind, milliseconds): (UInt8, Int64) =
      switch self {
      case .after(let duration): (1, duration.count)
      case .at(let moment): (2, moment.milliseconds)
      }
    let number = ID128(high: 0, low: UInt64(bitPattern: milliseconds)).bytes.suffix(8)
    return [0xFE, UInt8(truncatingIfNeeded: index), kind] + number
  }

  /// The end of the choice with this index among the items of a question's tags; `nil`: no end.
  init?(ofChoice index: Int, in items: [[UInt8]]) {
    guard
      let item = items.first(where: { $0.count == 11 && $0.isEnd && Int($0[1]) == index })
    else { return nil }
    let number = Int64(bitPattern: item.suffix(8).reduce(0) { $0 << 8 | UInt64($1) })
    self =
      item[2] == 1
      ? .after(Milliseconds(number)) : .at(Instant(milliseconds: number))
  }
}

extension [UInt8] {
  /// Whether the item of a tag is an update's description.
  var isUpdate: Bool { first == 0xFF }

  /// Whether the item of a tag is the end of a choice.
  var isEnd: Bool { first == 0xFE }
}
