import TextTable

/// What a load found, for people at a terminal.
enum TextReport {
  static func text(_ results: Results) -> String {
    var parts: [String] = []
    let set = results.settings
    parts.append(
      "\(set.families) families of \(set.guardians + 1) devices in \(set.workers) workers, mix \(set.mix.text), seed \(set.seed)\n"
        + "\(results.machine.cores) cores (\(results.machine.processor)), Linux \(results.machine.kernel)\n"
        + "set-up: \(results.setUp.foundingSeconds.short) s to found, \(results.setUp.connectingSeconds.short) s to connect, \(results.setUp.settlingSeconds.short) s to rest;"
        + " memory a family: workers \(results.setUp.workerBytesPerFamily.short) bytes, relay \(results.setUp.relayBytesPerFamily.short) bytes"
    )
    parts.append(
      Table.render(
        [
          [
            "wanted/s", "approvals/s", "p50 ms", "p90 ms", "p99 ms", "p99.9 ms", "max ms",
            "relay cores", "worker cores", "objective",
          ]
        ]
          + results.steps.map { step in
            [step.offered.short, step.achieved.short] + cells(step.approvals)
              + [
                step.relayCores.short, step.workerCores.short,
                step.holds.map { $0 ? "holds" : "does not hold" } ?? "",
              ]
          }))
    parts.append(
      Table.render(
        [
          [
            "measured from the plan's moment", "count", "p50 ms", "p90 ms", "p99 ms", "p99.9 ms",
            "max ms",
          ]
        ]
          + (results.measures + results.kinds.map { .init(name: "  \($0.name)", times: $0.times) })
          .map { [label($0.name), "\($0.times.count)"] + cells($0.times) }))
    let counts = results.counts
    parts.append(
      "\(counts.asked) asked, \(counts.finished) over, \(results.unfinished) under way at the end;"
        + " \(counts.launches) apps launched, \(counts.alreadyAsked) told that it was asked,"
        + " \(counts.lateAnswers) guardians were second, \(counts.overloads) overloads")
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
      + "\nfamilies whose whole history was checked: \(checks.families) (every \(results.settings.checkedEvery)."
      + " of \(results.settings.families)), \(checks.facts) facts; acknowledged commands found in the store: \(checks.acknowledgements)"
      + checks.examples.map { "\n  \($0)" }.joined()
  }

  static func label(_ name: String) -> String {
    switch name {
    case "lag": "the generator's own delay"
    case "asked": "question on the relay's disk"
    case "answered": "answer on the relay's disk (from the tap)"
    case "approval": "answer handled by the app"
    case "heldUp": "the same, a device was off the network"
    default: name
    }
  }

  static func cells(_ times: Percentiles) -> [String] {
    [times.p50, times.p90, times.p99, times.p999, times.max].map(\.short)
  }
}
