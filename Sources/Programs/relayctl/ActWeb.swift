import ArgumentParser
import FamilyCore
import FamilyModel
import SiteNames
import SystemClock

struct SetWebRule: ExplainedCommand {
  enum Rule: String, ExpressibleByArgument, CaseIterable {
    case allow, block, ask, none
  }

  static let configuration = CommandConfiguration(
    commandName: "web-rule",
    abstract: "Allow or block sites, or make a child ask for them.",
    discussion: """
      A rule for a site covers all hosts below its registrable domain. Without a site, the rule covers \
      all sites that have none of their own.
      """)
  @OptionGroup var child: ChildOption
  @Argument(help: "allow, block or ask; none removes a site's own rule.") var rule: Rule
  @Argument(help: "The site, such as example.co.uk; by default all other sites.") var site: String?
  @OptionGroup var guardian: GuardianOptions

  func validate() throws {
    if site == nil, rule == .none {
      throw ValidationError("'none' removes the rule of a site. Name the site.")
    }
  }

  func perform() throws {
    let site = try site.map(Site.init(argument:))
    var relay = try guardian.connect()
    let view = FamilyView(try relay.machine())
    let child = try view.child(child.name)
    var rules = view.link.settings(of: child.id).webRules
    let before = rules
    let access = CaseArgument<WebAccess>(argument: rule.rawValue)?.value
    if let site { rules.sites[site] = access } else if let access { rules.others = access }
    try rules.validate()
    if rules != before {
      try relay.send(.changeSettings(child.id, .webRules(rules), proof: []))
    }
    let subject = site?.name ?? "other sites"
    let effective = site.map(rules.access) ?? rules.others
    print("\(child.displayName)'s rule for \(subject) is '\(effective)'.".printable)
  }
}

struct ShowWebRules: ExplainedCommand {
  static let configuration = CommandConfiguration(
    commandName: "web-rules",
    abstract: "List the children's rules for sites, and the sites that guardians approved.")
  @OptionGroup var guardian: GuardianOptions
  @OptionGroup var child: ChildOption
  @OptionGroup var output: OutputOptions

  func perform() throws {
    let view = try guardian.view()
    var listing = Listing(
      ofChildren: [.init("site"), .init("access"), .init("until")])
    for child in try view.children(child.name) {
      func add(_ site: Cell, _ access: String, until: Instant? = nil) {
        listing.add(child, site, .text(access), until.map { .time($0) } ?? .none)
      }
      let rules = view.link.settings(of: child.id).webRules
      add(.shown("all others", .none), "\(rules.others)")
      for (site, access) in rules.sites.sorted(by: { $0.key < $1.key }) {
        add(.text(site.name), "\(access)")
      }
      for (handle, reason) in view.conversation(child).known.judged(at: .now).reasons
      where handle.kind == .site {
        add(.text(handle.value), "approved", until: reason.until)
      }
    }
    output.show(listing, empty: "The family has no children.")
  }
}
