import TextTable

/// What a load found, for people at a terminal.
enum TextReport {
  static func text(_ results: Results) -> String {
    var parts: [String] = []
    let set = results.settings
    parts.append(
      """
      \(set.families) families of \(set.guardians + 1) devices in \(set.workers) worker processes, seed \(set.seed)
      mix \(set.mix.text)
      \(results.machine.cores) cores (\(results.machine.processor)), Linux \(results.machine.kernel)
      set-up: \(results.setUp.foundingSeconds.short) s to found, \(results.setUp.connectingSeconds.short) s to connect, \(results.setUp.settlingSeconds.short) s to rest
      memory a family: workers \(results.setUp.workerBytesPerFamily.short) bytes, relay \(results.setUp.relayBytesPerFamily.short) bytes
      """
    )
    parts.append(
      Table.render(
        [
          [
            "wanted/s", "done/s", "p50 ms", "p90 ms", "p99 ms", "p99.9 ms", "max ms",
            "relay cores", "workers",
          ] + (set.objective == nil ? [] : ["holds"])
        ]
          + results.steps.map { step in
            [step.offered.short, step.achieved.short] + cells(step.approvals)
              + [step.relayCores.short, step.workerCores.short]
              + (step.holds.map { [$0 ? "yes" : "no"] } ?? [])
          }))
    for step in results.steps where step.isLimitedByDevices(of: results.machine) {
      parts.append(
        """
        At \(step.offered.short)/s the devices' processes were the limit: they took \(step.workerCores.short) of \(results.machine.cores) cores, the relay \(step.relayCores.short).
        They did \(step.achieved.short) a second; each question waited for its turn, which counts in its time.
        """)
    }
    parts.append(
      Table.render(
        [
          [
            results.steps.count > 1 ? "all rates together" : "measured from the plan's moment",
            "count", "p50 ms", "p90 ms", "p99 ms", "p99.9 ms",
            "max ms",
          ]
        ]
          + rows(results).map { [$0.name, "\($0.times.count)"] + cells($0.times) }))
    let counts = results.counts
    parts.append(
      """
      \(counts.asked) asked, \(counts.finished) finished, \(results.unfinished) under way at the end
      \(counts.launches) apps launched, \(counts.alreadyAsked) children told that they had asked already, \(counts.lateAnswers) guardians second
      \(counts.overloads) refused as overload and sent again
      """)
    parts.append(checks(results))
    if let rate = results.highestRate, let objective = results.settings.objective {
      parts.append("Highest rate with \(objective.text): \(rate.short)/s")
    }
    parts.append(
      results.failures.isEmpty
        ? "Everything was right." : results.failures.map { "FAILED: \($0)" }.joined(separator: "\n")
    )
    return parts.joined(separator: "\n\n")
  }

  static func checks(_ results: Results) -> String {
    let checks = results.checks
    let table = Table.render(
      [["check", "right", "unknown", "wrong"]]
        + checks.rows.map { [$0.name, "\($0.ok)", "\($0.unknown)", "\($0.violated)"] })
    return table
      + "\nwhole histories checked: \(checks.families) of \(results.settings.families) families, \(checks.facts) facts"
      + "\nacknowledged commands looked for in the relay's store: \(checks.acknowledgements)"
      + checks.examples.map { "\n  \($0)" }.joined()
  }

  /// Each latency with its name, and those of the approvals by kind below them.
  static func rows(_ results: Results) -> [Results.Row] {
    results.measures.flatMap { measure -> [Results.Row] in
      let row = Results.Row(name: label(measure.name), times: measure.times)
      guard measure.name == Measure.approval.rawValue else { return [row] }
      return [row] + results.kinds.map { .init(name: "– \($0.name)", times: $0.times) }
    }
  }

  private static func label(_ name: String) -> String {
    switch name {
    case "lag": "the generator's own delay"
    case "asked": "question on the relay's disk"
    case "answered": "answer on disk, from the tap"
    case "approval": "answer handled by the app"
    case "heldUp": "handled, a device was off line"
    default: name
    }
  }

  /// What no question was measured for has no times.
  static func cells(_ times: Percentiles) -> [String] {
    guard times.count > 0 else { return Array(repeating: "–", count: 5) }
    return [times.p50, times.p90, times.p99, times.p999, times.max].map(\.short)
  }
}
