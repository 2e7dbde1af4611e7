import FaultNetwork
import Foundation
import GatewayModel
package import ProcessCluster

/// The links between each agent and the relay, which the page can cut.
package struct ConsoleNetwork: Sendable {
  let proxy = FaultProxy()
  /// The links to the relay's two sockets, by agent.
  private(set) var links: [String: [ProxyLink]] = [:]
  /// The relay's own endpoints.
  private let endpoints: [String]

  /// Opens links for these agents. Must be called before the cluster is created.
  package init(agents: [String]) async throws {
    let ports = try FreePorts.pair()
    endpoints = [
      "--requests", "tcp://127.0.0.1:\(ports.0)", "--broadcasts", "tcp://127.0.0.1:\(ports.1)",
    ]
    for agent in agents {
      links[agent] = [try await proxy.link(to: ports.0), try await proxy.link(to: ports.1)]
    }
  }

  /// Leads the agents of a cluster through the links, and makes its processes show what they do.
  package func configure(_ configuration: inout RunningCluster.Configuration, _ layout: Layout) {
    configuration.initArguments += endpoints
    configuration.relayArguments += endpoints + ["--trace"]
    configuration.agentArguments += ["--trace-all"]
    configuration.showsScreens = true
    let ports = links.mapValues { $0.map(\.port) }
    configuration.prepareAgents = {
      try Redirection.redirect(credentialsIn: layout.credentials, to: ports)
    }
  }

  /// Whether an agent's connection is cut; `nil` for a process without links.
  func isCut(_ agent: String) -> Bool? { links[agent]?.first?.faults.isCut }
}

extension ClusterConsole {
  /// Reads the state of all processes.
  ///
  /// - Returns: Whether a state changed.
  func updateProcesses(_ family: ConsoleFamily) -> Bool {
    let old = table.rows
    let now = Self.now
    for name in ["relay"] + family.agents {
      let process = self.process(name)
      let state = process.state(isHeld: held.contains(name))
      let uptime = Int64(process.uptime / .milliseconds(1))
      let same = old.first { $0.name == name && $0.pid == process.pid }
      let started = same?.started ?? now - uptime
      table.update(
        .init(
          name: name, kind: String(name.split(separator: "-").prefix(2).joined(separator: "-")),
          owner: family.owner(of: name), devices: family.devices(of: name), pid: process.pid,
          state: state, started: process.pid == nil ? nil : started, restarts: process.restarts,
          lastEnd: process.endText, isHeld: held.contains(name), isCut: network.isCut(name)),
        end: process.endText, now: now)
    }
    let app = appProcess(family)
    table.update(
      .init(
        name: "app-agent", kind: "app-agent", owner: "Landmarks",
        devices: family.appDevices.map(\.key), pid: app, state: app == nil ? "asleep" : "up",
        started: nil, restarts: 0, lastEnd: nil, isHeld: false, isCut: nil), end: nil, now: now)
    return table.rows != old
  }

  /// The app's process of the child's agent: the window, or the one that the device has launched.
  private func appProcess(_ family: ConsoleFamily) -> pid_t? {
    let window = family.appDevices.lazy.compactMap { self.windows[$0.key]?.pid }.first
    return window ?? launchedApps(of: family.childAgent).first
  }

  private func process(_ name: String) -> SupervisedProcess {
    name == "relay" ? cluster.relay : cluster.agent(name)
  }

  // MARK: Acts

  /// Performs a button of a process's card.
  ///
  /// - Throws: ``ConsoleRefusal`` for an unknown process or act, or one that is impossible now.
  func act(_ act: String, onProcess name: String) async throws {
    guard let family, (["relay", "app-agent"] + family.agents).contains(name) else {
      throw ConsoleRefusal(text: "No process has this name.")
    }
    switch act {
    case "kill": signal(SIGKILL, name, family)
    case "pause": signal(SIGSTOP, name, family)
    case "resume": signal(SIGCONT, name, family)
    case "hold" where name != "app-agent":
      if held.insert(name).inserted { process(name).holdRestart() }
    case "release" where name != "app-agent":
      if held.remove(name) != nil { process(name).releaseRestart() }
    case "cut", "join":
      guard let links = network.links[name] else {
        throw ConsoleRefusal(text: "This process has no connection of its own.")
      }
      for link in links { link.set { $0.isCut = act == "cut" } }
    default: throw ConsoleRefusal(text: "No button has this name.")
    }
  }

  private func signal(_ number: Int32, _ name: String, _ family: ConsoleFamily) {
    guard name == "app-agent" else { return process(name).signal(number) }
    let open = family.appDevices.compactMap { windows[$0.key]?.pid }
    for pid in open + launchedApps(of: family.childAgent) { kill(pid, number) }
  }

  /// Performs an act of a person on a device.
  ///
  /// - Throws: ``ConsoleRefusal``.
  func act(_ act: JSONValue, onDevice key: String, in language: String) async throws -> JSONValue {
    guard let device = family?.devices.first(where: { $0.key == key }), let screenClient else {
      throw ConsoleRefusal(text: "No device has this number.")
    }
    // A message to an absent agent would wait for it, and be carried out when the person has left.
    guard table.rows.first(where: { $0.name == device.process })?.state == "up" else {
      throw ConsoleRefusal(text: "The agent does not answer.", isUnreachable: true)
    }
    return try await screenClient.act(
      act, on: key, .init(process: device.process, language: language))
  }

  /// Performs a tap in the app's window.
  ///
  /// - Throws: ``ConsoleRefusal``.
  func act(_ act: JSONValue, onApp key: String) throws -> JSONValue {
    guard let window = windows[key], case .object(let members) = act else {
      throw ConsoleRefusal(text: "This device has no window of the app.")
    }
    if members["open"] != nil {
      do { try window.open() } catch { throw ConsoleRefusal(text: "The app does not start.") }
    } else if members["close"] != nil {
      window.close()
    } else if !window.send(act) {
      throw ConsoleRefusal(text: "The app is not open.", isUnreachable: true)
    }
    return .null
  }
}
