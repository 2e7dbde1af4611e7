import Testing

extension ServiceTests {
  @Test("O6: a removed person's contents are erased, and the others read and verify the history")
  func person() async throws {
    let result = try await shell(
      Self.start + """
        start
        cat >families.yaml <<'YAML'
        families:
          - id: 1
            members:
              - {name: Rosa, role: organizer}
              - {name: Alex, role: guardian}
              - {name: Emily, role: child, birthdate: 2014-05-17}
        YAML
        relayctl apply families.yaml --directory . --credentials keys >/dev/null
        rosa=keys/family-1-Rosa-1.json
        relayctl post "Words of Alex" --as keys/family-1-Alex-1.json >/dev/null; echo "alex $?"
        relayctl post "Words of Rosa" --as $rosa >/dev/null; echo "rosa $?"
        relayctl history --as $rosa | grep -o "Words of [A-Z][a-z]*"
        kill $pid; wait $pid
        relayctl export --directory . --to other --without-person 1:2 2>&1 | grep -o "Remove the person"
        relayctl export --directory . --to other --without-person 1:9 2>/dev/null; echo "unknown $?"
        relayctl export --directory . --to other --without-person 1 2>/dev/null; echo "usage $?"
        ls -d other 2>/dev/null
        start
        relayctl remove-member Alex --as $rosa >/dev/null; echo "remove $?"
        kill $pid; wait $pid
        relayctl export --directory . --to other --without-person 1:2 | grep -v whole
        relayctl check-store --directory other >/dev/null; echo "store $?"
        mv administrator.json other/
        sed -i "s#$PWD/requests.ipc#$PWD/other/requests.ipc#" other/administrator.json keys/*
        relay --directory other >out2 2>&1 & pid=$!
        await grep -qs ready out2
        relayctl history --as $rosa | grep -o "Words of [A-Z][a-z]*"
        relayctl post "More words" --as $rosa >/dev/null; echo "post $?"
        key=$(relayctl backup-key --file key.json)
        relayctl ship --directory other --public-key "$key" --to series >/dev/null
        relayctl verify series --key key.json | grep -o "The backup is whole."
        relayctl restore series --key key.json --directory third >/dev/null; echo "restore $?"
        kill $pid; wait $pid
        relayctl check-store --directory third >/dev/null; echo "restored $?"
        """)
    let lines = result.output.split(separator: "\n").map(String.init)
    #expect(
      lines == [
        "alex 0", "rosa 0", "Words of Alex", "Words of Rosa", "Remove the person", "unknown 1",
        "usage 64", "remove 0", "2 contents of removed persons are erased.",
        "Delete '.' and its backups to erase them.", "Next: relay --directory other", "store 0",
        "Words of Rosa", "post 0", "The backup is whole.", "restore 0", "restored 0",
      ], "\(result.output)")
  }
}
