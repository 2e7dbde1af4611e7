import Testing

extension ServiceTests {
  @Test("O6: a backup of a running relay is verified, restored to another folder, and served there")
  func backup() async throws {
    let result = try await shell(
      Self.start + """
        start
        relayctl generate --families 2 >families.yaml
        relayctl apply families.yaml --directory . --credentials keys >/dev/null
        key=$(relayctl backup-key --file key.json)
        relayctl backup --directory . --public-key "$key" --to first >/dev/null; echo "code $?"
        before=$(relayctl families --directory . --families 1-2 --json)
        relayctl backup --directory . --public-key "$key" --to first 2>/dev/null; echo "again $?"
        relayctl backup --directory . --public-key AAAA --to second 2>/dev/null; echo "key $?"
        kill $pid; wait $pid
        relayctl backup --directory . --public-key "$key" --to second 2>/dev/null; echo "stopped $?"
        relayctl verify first --key key.json | sed 's/.*has/has/'
        relayctl restore first --key key.json --directory other >/dev/null
        stat -c '%a %n' other other/* first
        relay --directory other >out2 2>&1 & pid=$!
        await grep -q ready out2
        mv administrator.json other/
        sed -i "s#$PWD/requests.ipc#$PWD/other/requests.ipc#" other/administrator.json
        [ "$(relayctl families --directory other --families 1-2 --json)" = "$before" ] && echo same
        kill $pid; wait $pid
        head -c -1 first >short
        relayctl verify short --key key.json 2>/dev/null; echo "short $?"
        relayctl restore short --key key.json --directory third 2>/dev/null; echo "restore $?"
        ls -d third* verify* backup.sqlite 2>/dev/null
        """)
    let lines = result.output.split(separator: "\n").map(String.init)
    #expect(
      lines == [
        "code 0", "again 1", "key 1", "stopped 2", "has 14 events. The backup is whole.",
        "700 other", "600 other/relay.json", "600 other/relay.sqlite", "600 first", "same",
        "short 1", "restore 1",
      ], "\(result.output)")
  }
}
