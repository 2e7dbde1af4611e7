import Foundation
import RelayOperation
import Subprocess
import SystemPackage
import Testing

@testable import RelayServer

/// The folder of the programs, which is that of the tests.
private let programs = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()

@Suite(.serialized) struct ServiceTests {
  /// Runs a shell command in a new folder with a relay's keys.
  func shell(_ script: String) async throws -> (output: String, code: Int32?) {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
      "\(UUID().uuidString.prefix(8))")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let result = try await Subprocess.run(
      .path("/usr/bin/timeout"),
      arguments: [
        "-k", "1", "120", "bash", "-c",
        "exec 2>&1; cd \(folder.path); chmod 700 .; PATH=\(programs.path):$PATH; " + script,
      ],
      output: .string(limit: 1 << 20), error: .discarded)
    var code: Int32?
    if case .exited(let exited) = result.terminationStatus { code = exited }
    return (result.standardOutput, code)
  }

  static let start = """
    relayctl init --directory . >/dev/null
    await() { for _ in {1..1200}; do "$@" && return; sleep 0.05; done; exit 1; }
    start() { relay --directory . >out 2>&1 & pid=$!; await grep -qs ready out; }

    """

  @Test(
    "O9: the relay's exit code tells a supervisor whether a restart helps",
    arguments: [
      ("relay --directory .", 78),
      ("relayctl init --directory . >/dev/null; chmod 644 relay.json; relay --directory .", 78),
      (
        "relayctl init --directory . >/dev/null; head -c 8192 /dev/urandom >relay.sqlite; "
          + "relay --directory .", 65
      ),
      (start + "start; relay --directory .; code=$?; kill $pid; wait $pid; exit $code", 69),
      (
        start + "mkdir -m 700 other; relayctl init --directory other >/dev/null; start; "
          + "relay --directory other --requests ipc://$PWD/requests.ipc "
          + "--broadcasts ipc:///nonexistent/b.ipc; code=$?; kill $pid; wait $pid; exit $code", 69
      ),
      (start + "start; kill $pid; wait $pid", 0),
      // The disk takes no byte more.
      (
        "relayctl init --directory . >/dev/null; trap '' XFSZ; ulimit -f 8; relay --directory .", 74
      ),
      ("relay --directory . --shards 0", 64),
    ] as [(String, Int32)]) func exitCodes(_ script: String, _ code: Int32) async throws
  {
    let result = try await shell(script)
    #expect(result.code == code, "\(result.output)")
  }

  @Test("O2, O6: a start removes the note of damage beside a restored store that has none")
  func damageNote() async throws {
    let result = try await shell(
      Self.start + """
        touch relay.sqlite-damaged; start; kill $pid; wait $pid
        [ -e relay.sqlite-damaged ]; echo "note $?"
        """)
    #expect(result.output == "note 1\n")
  }

  @Test("O9: a reader of errors that stalls or is gone does not change the exit code")
  func stalledErrors() async throws {
    let result = try await shell(
      """
      python3 - <<'PYTHON'
      import os, subprocess
      for is_gone in (False, True):
          reader, writer = os.pipe()
          if is_gone:
              os.close(reader)
          else:
              os.set_blocking(writer, False)
              try:
                  while True: os.write(writer, bytes(4096))
              except BlockingIOError: os.set_blocking(writer, True)
          relay = ["relay", "--directory", "."]
          print(subprocess.run(relay, stderr=writer, timeout=60).returncode)
      PYTHON
      """)
    #expect(result.output == "78\n78\n")
  }

  @Test("O9: the relay reports its start, its life and its end to the service manager")
  func notifications() async throws {
    let result = try await shell(
      Self.start + """
        python3 -c '
        import socket, sys
        s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); s.bind("notify")
        open("bound", "w").close()
        seen = set()
        while "STOPPING=1" not in seen: seen.add(s.recv(100).decode())
        print(sorted(seen))' & reader=$!
        await [ -e bound ]
        export NOTIFY_SOCKET=$PWD/notify
        start; sleep 2.5; kill $pid; wait $pid; wait $reader
        """)
    #expect(result.output.contains("['READY=1', 'STOPPING=1', 'WATCHDOG=1']"), "\(result.output)")
  }

  @Test("O9: a reader of the trace that stalls stops no commit, and reads all lines later")
  func stalledTrace() async throws {
    let result = try await shell(
      Self.start + """
        mkfifo trace
        python3 -c '
        import os, time
        with open("trace") as trace:
            while not os.path.exists("go"): time.sleep(0.05)
            count = 0
            for line in trace:
                count += "committed" in line
                if count == 700: open("read", "w").close()
        print(count)' & reader=$!
        relay --directory . --trace >trace 2>out & pid=$!
        await [ -S operator.ipc ]
        # More than a pipe holds.
        relayctl generate --families 100 >families.yaml
        timeout 60 relayctl apply families.yaml --directory . --credentials keys >/dev/null
        echo "apply $?"; touch go
        await [ -e read ]; kill $pid; wait $pid; echo "code $?"; wait $reader
        """)
    let lines = result.output.split(separator: "\n").map(String.init)
    #expect(lines.sorted() == ["700", "apply 0", "code 0"], "\(result.output)")
  }

  @Test("O9: a monitor answers while its relay hangs, and top shows a relay at work")
  func monitor() async throws {
    let result = try await shell(
      Self.start + """
        start
        relay-monitor --directory . --port 0 >monitor 2>/dev/null & monitor=$!
        await grep -qs ready monitor
        url=$(sed -n 's/^ready //p' monitor)
        ask() { python3 - "$url/$1" <<'PYTHON'
        import sys, urllib.request, urllib.error
        try: answer = urllib.request.urlopen(sys.argv[1], timeout=30)
        except urllib.error.HTTPError as error: answer = error
        print(answer.status, answer.read().decode().strip())
        PYTHON
        }
        ask health; ask ready
        ask metrics | grep -c '^permission_relay_up 1'
        kill -STOP $pid; ask health; ask metrics | tail -1; kill -CONT $pid; ask health
        relayctl top --directory . --once | head -1
        relayctl top --directory . --once --json | head -c 12
        echo
        kill $monitor $pid; wait
        relayctl top --directory . --once; echo "code $?"
        """)
    let lines = result.output.split(separator: "\n").map(String.init)
    #expect(
      lines.prefix(6) == [
        "200 ok", "200 ok", "1", "503 the relay does not answer", "permission_relay_up 0", "200 ok",
      ], "\(result.output)")
    #expect(lines.contains { $0.hasPrefix("relay 0.") && $0.contains("running") })
    #expect(lines.contains { $0.hasPrefix("{\"commits\":{") })
    #expect(lines.contains { $0.contains("No relay answers") } && lines.last == "code 2")
  }

  @Test("O9: only the owner of the relay's folder can reach the operator's socket")
  func privacy() async throws {
    let result = try await shell(
      Self.start + "start; stat -c %a . operator.ipc; kill $pid; wait $pid")
    #expect(result.output.split(separator: "\n").prefix(2) == ["700", "700"])
  }

  @Test("O9: a relay that hangs, or whose disk hangs, is not alive")
  func liveness() {
    let alive = RelayStatistics()
    #expect(alive.isAlive)
    var silent = alive
    silent.times.sinceTurn = RelayStatistics.patience
    var stuck = alive
    stuck.times.presentCommit = RelayStatistics.patience
    var failed = alive
    failed.failure = "the disk is full"
    #expect(!silent.isAlive && !stuck.isAlive && !failed.isAlive)
  }
}
