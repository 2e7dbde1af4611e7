import FamilyModel

/// The list of the device's apps, which the guardians read.
extension ChildMachine {
  /// The apps of this device, by identifier; at most ``Limits/listedApps``. An identifier or a name
  /// that no message can carry is left out.
  var installedApps: [ListedApp] {
    let all = feeds.compactMap { feed -> ListedApp? in
      let manifest = manifest(feed.app)
      var listed = ListedApp(app: feed.app, name: manifest.name, rating: manifest.ageRating)
      if manifest.usesDeclaredAgeRange { listed.frameworks.insert(.ageRanges) }
      if feed.progress.registered { listed.frameworks.insert(.permissions) }
      if (try? listed.validate()) != nil { return listed }
      listed.name = nil
      return (try? listed.validate()) == nil ? nil : listed
    }
    return Array(all.prefix(Limits.listedApps))
  }

  /// Allows the device to launch the app for new entries.
  mutating func register(_ app: AppID, into out: inout DeviceLink.Output) {
    let changes = update(app) { $0.register() } ?? []
    isListDue = isListDue || !changes.isEmpty
    out.changes += changes
  }

  /// Reports the apps of a child's device to the guardians, if the list differs from the one that
  /// the device reported last.
  ///
  /// A list that the relay refuses is sent again after the next change or restart.
  mutating func reportApps(now: Instant, into out: inout DeviceLink.Output) {
    guard isListDue, isInFamily, link.person?.role == .child, !link.isShutOut else { return }
    isListDue = false
    let apps = installedApps
    guard apps != link.reportedApps ?? [] else { return }
    send(.noteAge(link.personID, .apps(apps)), now: now, into: &out)
  }
}
