import ArgumentParser
import FamilyModel
import SiteNames
import Wording

struct SetWebReport: ExplainedCommand {
  static let configuration = CommandConfiguration(
    commandName: "web-reporting",
    abstract: "Choose what guardians read about a child's use of the web.",
    discussion: """
      With 'days' the child's devices report the time of each day, and with 'sites' also that of each \
      site. With 'off', the default, the devices count nothing and delete what they have counted.
      """)
  @OptionGroup var child: ChildOption
  @Argument(help: "off, days or sites.") var detail: CaseArgument<WebReport>
  @OptionGroup var guardian: GuardianOptions

  func perform() throws {
    var relay = try guardian.connect()
    let view = FamilyView(try relay.machine())
    let child = try view.child(child.name)
    var rules = view.link.settings(of: child.id).webRules
    let isDone = rules.report == detail.value
    rules.report = detail.value
    if !isDone { try relay.send(.changeSettings(child.id, .webRules(rules), proof: [])) }
    print(
      "\(child.displayName)'s report of the web is \(isDone ? "already " : "")'\(detail.value)'."
        .printable)
  }
}

struct ShowWebReport: ExplainedCommand {
  static let configuration = CommandConfiguration(
    commandName: "web-report",
    abstract: "List the children's use of the web by day and site.",
    discussion: """
      A row without a site has the time of the whole day, in which pages of several sites may have been \
      shown together. Devices report at most every 15 minutes.
      """)
  @OptionGroup var guardian: GuardianOptions
  @OptionGroup var child: ChildOption
  @OptionGroup var output: OutputOptions

  func perform() throws {
    let view = try guardian.view()
    var listing = Listing(
      ofChildren: [
        .init("day"), .init("site"), .init("time", "seconds"), .init("note", "shortened"),
      ])
    for child in try view.children(child.name) {
      for day in view.link.webReport(of: child.id) {
        func add(_ site: Cell, _ seconds: UInt32, _ note: Cell) {
          listing.add(
            child, .text(day.day.iso), site,
            .shown(Wording.time(seconds), .number(UInt64(seconds))), note)
        }
        add(
          .shown("all sites", .none), day.seconds,
          .shown(
            day.isShortened ? "an app deleted a part" : "", .flag(day.isShortened)))
        for (site, time) in day.longestSites {
          add(.text(site.name), time, .none)
        }
      }
    }
    output.show(listing, empty: "No device of a child has reported use of the web.")
  }
}

struct DeleteWebReport: ExplainedCommand {
  static let configuration = CommandConfiguration(
    commandName: "delete-web-report",
    abstract: "Delete what a child's devices have reported about the web, on all devices.")
  @OptionGroup var child: ChildOption
  @Option(help: "The site to delete, such as example.co.uk; by default all sites.") var site:
    String?
  @OptionGroup var guardian: GuardianOptions

  func perform() throws {
    let site = try site.map(Site.init(argument:))
    var relay = try guardian.connect()
    let child = try FamilyView(try relay.machine()).child(child.name)
    try relay.send(.changeSettings(child.id, .webUseDeleted(site), proof: []))
    let subject = site?.name ?? "all sites"
    print("The reports of \(child.displayName)'s use of \(subject) are deleted.".printable)
  }
}

extension Site {
  /// The site of a host on the command line.
  init(argument text: String) throws {
    guard let site = Site(host: text) else {
      throw ControlError(
        "'\(text)' is no host of a site. An example is www.example.co.uk.".printable)
    }
    self = site
  }
}
