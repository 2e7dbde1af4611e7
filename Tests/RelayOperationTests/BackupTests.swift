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
        await grep -qs ready out2
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

  @Test("O6: a family is erased from a relay, and the others continue")
  func erasure() async throws {
    let result = try await shell(
      Self.start + """
        start
        relayctl generate --families 2 >families.yaml
        relayctl apply families.yaml --directory . --credentials keys >/dev/null
        before=$(relayctl families --directory . --families 1 --json)
        kill $pid; wait $pid
        relayctl export --directory . --to other --without 9 2>/dev/null; echo "typo $?"
        ls -d other 2>/dev/null
        relayctl export --directory . --to other --without 2
        python3 -c '
        import sqlite3
        base = sqlite3.connect("relay.sqlite")
        parts = [row[0] for row in base.execute("SELECT payload FROM event WHERE family = 2")]
        copy = open("other/relay.sqlite", "rb").read()
        print(len(parts), sum(part in copy for part in parts))'
        mv administrator.json other/
        sed -i "s#$PWD/requests.ipc#$PWD/other/requests.ipc#" other/administrator.json keys/*
        relay --directory other >out2 2>&1 & pid=$!
        await grep -qs ready out2
        [ "$(relayctl families --directory other --families 1-2 --json)" = "$before" ] && echo same
        guardian() { grep -l '"role" : 1,' keys/family-$1-*-1.json; }
        relayctl history --as "$(guardian 1)" >/dev/null; echo "family 1 $?"
        relayctl history --as "$(guardian 2)" 2>&1 | grep -o 'problem 200'
        kill $pid; wait $pid
        """)
    let lines = result.output.split(separator: "\n").map(String.init)
    #expect(
      lines == [
        "typo 1", "7 events of 1 families are whole.", "7 events of family 2 are left out.",
        "Delete '.' and its backups to erase them.", "Next: relay --directory other", "7 0", "same",
        "family 1 0", "problem 200",
      ], "\(result.output)")
  }

  @Test("O2: an operator finds a damaged record, saves the rest, and the other families continue")
  func salvage() async throws {
    let result = try await shell(
      Self.start + """
        start
        relayctl generate --families 2 >families.yaml
        relayctl apply families.yaml --directory . --credentials keys >/dev/null
        relayctl check-store --directory . 2>/dev/null; echo "running $?"
        kill $pid; wait $pid
        relayctl check-store --directory .; echo "whole $?"
        python3 -c '
        import sqlite3
        base = sqlite3.connect("relay.sqlite")
        base.execute("UPDATE event SET payload = zeroblob(9) WHERE family = 2 AND seq = 3")
        base.commit(); base.close()'
        relay --directory . >out2 2>&1 & pid=$!
        await grep -qs ready out2
        grep -c "records cannot be read" out2
        guardian() { grep -l '"role" : 1,' keys/family-$1-*-1.json; }
        relayctl history --as "$(guardian 1)" >/dev/null; echo "family 1 $?"
        relayctl history --as "$(guardian 2)" 2>&1 | grep -o 'problem 503'
        key=$(relayctl backup-key --file key.json)
        relayctl backup --directory . --public-key "$key" --to copy >/dev/null; echo "backup $?"
        relayctl verify copy --key key.json | grep -o 'damaged: 2 (events 3-7)'; echo "verify ${PIPESTATUS[0]}"
        relayctl restore copy --key key.json --directory copied | grep -o 'damaged: 2 (events 3-7)'
        relayctl check-store --directory copied | tail -1
        kill $pid; wait $pid
        relayctl check-store --directory . | tail -4; echo "damaged ${PIPESTATUS[0]}"
        relayctl export --directory . --to other | tail -1
        mv administrator.json other/
        sed -i "s#$PWD/requests.ipc#$PWD/other/requests.ipc#" other/administrator.json
        relay --directory other >out3 2>&1 & pid=$!
        await grep -qs ready out3
        relayctl apply families.yaml --directory other --credentials keys >/dev/null; echo "apply $?"
        kill $pid; wait $pid
        relayctl check-store --directory missing 2>/dev/null; echo "missing $?"
        python3 -c '
        import sqlite3
        base = sqlite3.connect("other/relay.sqlite")
        base.execute("INSERT INTO cursor VALUES (1, 1, 0, 1, 0, 0)")
        base.commit(); base.close()'
        relayctl check-store --directory other | tail -1; echo "cursors ${PIPESTATUS[0]}"
        relayctl export --directory other --to third >/dev/null
        relayctl check-store --directory third >/dev/null; echo "again $?"
        """)
    let lines = result.output.split(separator: "\n").map(String.init)
    #expect(
      lines == [
        "running 1", "14 events of 2 families are whole.", "whole 0", "1",
        "family 1 0", "problem 503", "backup 0", "damaged: 2 (events 3-7)", "verify 65",
        "damaged: 2 (events 3-7)",
        "9 events of 2 families are whole. 1 records are unreadable.",
        "family  first lost event  newest known event", "2       3                 7",
        "9 events of 2 families are whole. 1 records are unreadable.", "damaged 65",
        "Next: relay --directory other", "apply 0", "missing 1",
        "Damaged: cursor in family 1. `relayctl export` makes heads and indexes again, and leaves "
          + "out damaged cursors and passcode locks.", "cursors 65", "again 0",
      ], "\(result.output)")
  }
}
