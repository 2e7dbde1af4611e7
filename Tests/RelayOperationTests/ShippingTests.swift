import Testing

extension ServiceTests {
  /// Shell functions: `families N` applies N families of seven events each, `ship` adds segments, and
  /// `dump FOLDER` prints a digest of all that a store's log decides.
  private static let shipping =
    start + """
      families() {
        relayctl generate --families $1 >families.yaml
        relayctl apply families.yaml --directory . --credentials keys >/dev/null
      }
      ship() {
        relayctl ship --directory . --public-key "$key" --to series "$@" 2>/dev/null |
          sed 's/ Next.*//'
        echo "ship ${PIPESTATUS[0]}"
      }
      dump() {
        python3 -c '
      import hashlib, sqlite3, sys
      base = sqlite3.connect(sys.argv[1] + "/relay.sqlite")
      rows = [base.execute(f"SELECT * FROM {table} ORDER BY 1, 2, 3").fetchall()
              for table in ["event", "mark", "command", "passcode_lock"]]
      print(len(rows[0]), hashlib.sha256(repr(rows).encode()).hexdigest())' $1
      }
      key=$(relayctl backup-key --file key.json)

      """

  @Test("O6: a series is restored to its end, to a number of events, and to a time")
  func pointInTime() async throws {
    let result = try await shell(
      Self.shipping + """
        start
        families 1; ship; families 2; ship; families 3; ship; ship
        relayctl top --directory . --once --json | grep -o '"lastSegment":[0-9]' | head -c 13; echo
        ls series | tr '\\n' ' '; echo
        kill $pid; wait $pid
        relayctl verify series --key key.json | sed 's/.*Z has/has/'
        relayctl restore series --key key.json --directory all >/dev/null
        [ "$(dump .)" = "$(dump all)" ] && echo equal
        time=$(python3 -c '
        import datetime, sqlite3
        at = sqlite3.connect("relay.sqlite").execute("SELECT at FROM event WHERE id = 14").fetchone()[0]
        time = datetime.datetime.fromtimestamp(at / 1000, datetime.timezone.utc)
        print(time.isoformat(timespec="milliseconds").replace("+00:00", "Z"))')
        restore() {
          relayctl restore series --key key.json "$@" 2>error | sed 's/.*has/has/; s/ Next.*//'
          echo "restore ${PIPESTATUS[0]}"
        }
        restore --directory number --until 16; restore --directory time --at $time
        dump number | cut -c -2; dump time | cut -c -2
        relayctl check-store --directory number
        restore --directory early --until 6; restore --directory late --until 22
        restore --directory early --at 2001-01-01T00:00:00Z; restore --directory early --at noon
        mv series/00000001.segment away; restore --directory gap; cat error | cut -c -43
        restore --directory gap --until 7
        relay --directory time >out2 2>&1 & pid=$!
        await grep -qs ready out2
        relayctl ship --directory time --public-key "$key" --to series 2>error; echo "gap $?"
        mv away series/00000001.segment
        relayctl ship --directory time --public-key "$key" --to series 2>error; echo "foreign $?"
        grep -o 'does not continue the segments' error
        kill $pid; wait $pid
        ls -d *.partial early late gap verify-* 2>/dev/null | tr '\\n' ' '
        """)
    let lines = result.output.split(separator: "\n").map(String.init)
    #expect(
      lines == [
        "The series has 7 events, up to 00000000.backup.", "ship 0",
        "The series has 14 events, up to 00000001.segment.", "ship 0",
        "The series has 21 events, up to 00000002.segment.", "ship 0",
        "The series has 21 events, up to 00000002.segment.", "ship 0", "\"lastSegment\"",
        "00000000.backup 00000001.segment 00000002.segment ",
        "has 7 events. Its segments continue it to 21 events. The backup is whole.", "equal",
        "has 7 events. Its segments continue it to 16 events.", "restore 0",
        "has 7 events. Its segments continue it to 14 events.", "restore 0", "16", "14",
        "16 events of 3 families are whole.", "restore 1", "restore 1", "restore 1", "restore 64",
        "restore 1", "Error: 00000001.segment is missing. Put it ",
        "has 7 events.", "restore 0", "gap 1",
        "foreign 1", "does not continue the segments", "gap ",
      ], "\(result.output)")
  }

  @Test("O6: a shipper or relay that is killed at any moment loses nothing and repeats nothing")
  func killedShipper() async throws {
    let result = try await shell(
      Self.shipping + """
        start
        follow() {
          relayctl ship --directory . --public-key "$key" --to series --follow --interval 1 2>/dev/null &
          shipper=$!
        }
        follow
        for round in {1..8}; do
          families $round
          kill -KILL $shipper; wait $shipper
          [ $round != 4 ] || { kill -KILL $pid; wait $pid; start; }
          echo junk >series/00000099.segment.partial
          follow
        done 2>/dev/null
        # On a busy machine the only complete backup may be the last one, and then no event follows it.
        await [ -e series/00000000.backup ]; families 9
        await [ -e series/00000001.segment ]
        kill -KILL $shipper; wait $shipper 2>/dev/null
        flock series relayctl ship --directory . --public-key "$key" --to series 2>/dev/null
        echo "second $?"
        ship | head -1 | cut -c -25
        kill $pid; wait $pid
        relayctl verify series --key key.json | grep -o 'The backup is whole.'
        relayctl restore series --key key.json --directory all >/dev/null
        [ "$(dump .)" = "$(dump all)" ] && echo equal
        ls series | grep -vc '^[0-9]*.\\(backup\\|segment\\)$'
        """)
    let lines = result.output.split(separator: "\n").map(String.init)
    #expect(
      lines == [
        "second 1", "The series has 63 events,", "The backup is whole.", "equal", "0",
      ], "\(result.output)")
  }

  @Test("O2, O6: damaged events end neither a backup nor a series, and a restoration names them")
  func damage() async throws {
    let result = try await shell(
      Self.shipping + """
        family() {
          relayctl generate --families 1 | sed "s/id: 1\\$/id: $1/" >family.yaml
          relayctl apply family.yaml --directory . --credentials keys >/dev/null
        }
        damage() {
          kill $pid; wait $pid; rm out
          python3 -c '
        import sqlite3, sys
        base = sqlite3.connect("relay.sqlite")
        base.execute("UPDATE event SET payload = zeroblob(9) WHERE " + sys.argv[1])
        base.commit(); base.close()' "$1"
          start
        }
        verify() {
          relayctl verify $1 --key key.json | sed 's/.*Z has/has/; s/ The relay refuses.*//'
          echo "verify ${PIPESTATUS[0]}"
        }
        start
        families 2; ship
        # The series ends with this event, and has it whole.
        damage "family = 2 AND seq = 7"
        family 3; family 4
        damage "family = 3 AND seq = 5"
        ship; verify series
        # The newest record of the log.
        damage "family = 4 AND seq = 7"
        relayctl backup --directory . --public-key "$key" --to copy >/dev/null; echo "backup $?"
        verify copy
        mv series first; ship; family 5; ship; verify series
        kill $pid; wait $pid
        relayctl restore series --key key.json --directory all >/dev/null; echo "restore $?"
        [ "$(dump .)" = "$(dump all)" ] && echo equal
        relayctl restore first --key key.json --directory old >/dev/null; echo "restore $?"
        relay --directory old --requests ipc://$PWD/requests.ipc \
          --broadcasts ipc://$PWD/broadcasts.ipc >out2 2>&1 & pid=$!
        await grep -qs ready out2
        for family in 2 3 4; do
          relayctl history --as "$(grep -l '"role" : 1,' keys/family-$family-*-1.json)" >error 2>&1 &&
            echo "family $family" || grep -o 'problem 503' error
        done
        kill $pid; wait $pid
        """)
    let lines = result.output.split(separator: "\n").map(String.init)
    let damaged = "Records of these families are damaged: "
    #expect(
      lines == [
        "The series has 14 events, up to 00000000.backup.", "ship 0",
        "The series has 28 events, up to 00000001.segment.", "ship 0",
        "has 14 events. Its segments continue it to 28 events. \(damaged)3 (events 5-7).",
        "verify 65", "backup 0",
        "has 28 events. \(damaged)2 (events 7-7), 3 (events 5-7), 4 (events 7-7).", "verify 65",
        "The series has 28 events, up to 00000000.backup.", "ship 0",
        "The series has 35 events, up to 00000001.segment.", "ship 0",
        "has 28 events. Its segments continue it to 35 events. "
          + "\(damaged)2 (events 7-7), 3 (events 5-7), 4 (events 7-7).", "verify 65",
        "restore 0", "equal", "restore 0", "family 2", "problem 503", "family 4",
      ], "\(result.output)")
  }
}
