import TextTable

/// The results of a load for a terminal.
enum TextReport {
  static func text(_ results: Results) -> String {
    var parts: [String] = []
    let set = results.settings
    parts.append(
      """
      \(set.families) families of \(set.guardians + 1) devices in \(set.workers) worker processes, seed \(set.seed)
      mix \(set.mix.text)
      \(results.machine.cores) cores (\(results.machine.processor)), Linux \(results.machine.kernel)
      set-up: \(results.setUp.foundingSeconds.short) s to create families, \(results.setUp.connectingSeconds.short) s to attach devices, \(results.setUp.settlingSeconds.short) s to idle
      memory per family: workers \(results.setUp.workerBytesPerFamily.short) bytes, relay \(results.setUp.relayBytesPerFamily.short) bytes
      """
    )
    parts.append(
      Table.render(
        [
          [
            "offered/s", "done/s", "p50 ms", "p90 ms", "p99 ms", "p99.9 ms", "max ms",
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
        At \(step.offered.short)/s the workers were the limit: they used \(step.workerCores.short) of \(results.machine.cores) cores, the relay \(step.relayCores.short).
        They finished \(step.achieved.short)/s; the latencies include the wait in the devices.
        """)
    }
    parts.append(
      Table.render(
        [
          [
            results.steps.count > 1 ? "all rates together" : "from the planned time",
            "count", "p50 ms", "p90 ms", "p99 ms", "p99.9 ms",
            "max ms",
          ]
        ]
          + rows(results).map { [$0.name, "\($0.times.count)"] + cells($0.times) }))
    let counts = results.counts
    parts.append(
      """
      \(counts.asked) asked, \(counts.finished) finished, \(results.unfinished) unfinished at the end
      \(counts.launches) apps launched, \(counts.alreadyAsked) duplicate questions, \(counts.lateAnswers) late answers
      \(counts.overloads) refusals for overload, retried
      """)
    parts.append(checks(results))
    if let rate = results.highestRate, let objective = results.settings.objective {
      parts.append("Highest rate with \(objective.text): \(rate.short)/s")
    }
    parts.append(
      results.failures.isEmpty
        ? "All checks passed." : results.failures.map { "FAILED: \($0)" }.joined(separator: "\n")
    )
    return parts.joined(separator: "\n\n")
  }

  static func checks(_ results: Results) -> String {
    let checks = results.checks
    let table = Table.render(
      [["check", "ok", "unknown", "violated"]]
        + checks.rows.map { [$0.name, "\($0.ok)", "\($0.unknown)", "\($0.violated)"] })
    return table
      + "\ncomplete histories: \(checks.families) of \(results.settings.families) families, \(checks.facts) facts"
      + "\nacknowledged commands compared with the relay's store: \(checks.acknowledgements)"
      + checks.examples.map { "\n  \($0)" }.joined()
  }

  /// The rows of all measures, with the approvals also by kind.
  static func rows(_ results: Results) -> [Results.Row] {
    results.measures.flatMap { measure -> [Results.Row] in
      let row = Results.Row(name: label(measure.name), times: measure.times)
      guard measure.name == Measure.approval.rawValue else { return [row] }
      return [row] + results.kinds.map { .init(name: "– \($0.name)", times: $0.times) }
    }
  }

  private static func label(_ name: String) -> String {
    switch name {
    case "lag": "delay of the generator"
    case "asked": "question stored by the relay"
    case "answered": "answer stored, from the guardian's tap"
    case "approval": "answer handled by the app"
    case "heldUp": "handled, with a device offline"
    default: name
    }
  }

  /// The latencies as cells, or dashes without measured questions.
  static func cells(_ times: Percentiles) -> [String] {
    guard times.count > 0 else { return Array(repeating: "–", count: 5) }
    return [times.p50, times.p90, times.p99, times.p999, times.max].map(\.short)
  }
}
