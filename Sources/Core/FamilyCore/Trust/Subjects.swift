package import FamilyModel

/// What a question is about, as digests that can be opened one by one.
///
/// The relay sees one digest of all of them; who has the content's key makes it again; and an app is given the
/// keys of what it may know, which tell it nothing of the rest.
extension EvidenceVault {
  /// The tags of what the question asks about, in an app, by a conversation's key.
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

  /// What the question's header has of them.
  package func subjects(_ tags: SubjectTags) -> [UInt8] {
    var bytes = BoundBytes("permission-relay subjects 2")
    bytes.add(tags.app)
    bytes.add(UInt32(tags.items.count))
    for item in tags.items { bytes.add(item.tag) }
    return digest(bytes.bytes)
  }

  /// Whether the tags are those of the header, and those that are open say what they are; then whether the
  /// question is the app's own, and what it may know of it.
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
  /// As another app may see them: numbers and addresses, which are known everywhere (K5).
  var forOtherApps: SubjectTags {
    SubjectTags(
      app: app, appKey: [],
      items: items.map { item in
        let kind = item.item.first.flatMap(Handle.Kind.init)
        return kind == .phoneNumber || kind == .emailAddress ? item : Tag(tag: item.tag)
      })
  }
}

extension Handle {
  /// The handle of a tag's item.
  init?(item: [UInt8]) {
    guard let kind = item.first.flatMap(Kind.init) else { return nil }
    self.init(String(decoding: item.dropFirst(), as: UTF8.self), kind)
  }

  var item: [UInt8] { [kind.rawValue] + value.utf8 }
}

extension Question {
  /// What is asked about, in order: handles in canonical form, or an update's description.
  var items: [[UInt8]] {
    switch topic {
    case .communication: topic.handles.map(\.canonical).sorted().map(\.item)
    case .significantUpdate(let text): [[0xFF] + text.utf8]
    }
  }
}
