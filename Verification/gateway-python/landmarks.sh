#!/usr/bin/env bash
# An app: asks whether a person may chat, and handles the response.
# landmarks.sh http://127.0.0.1:PORT gateway/token-example.landmarks bob
set -euo pipefail
base=$1 token=$2 name=$3
call() { curl -sS --fail-with-body -H @<(printf 'Authorization: Bearer %s' "$(cat "$token")") "$@"; }
json() { call -H 'Content-Type: application/json' "$@"; }

question=$(cat /proc/sys/kernel/random/uuid)
json "$base/v1/questions" -d '{"id": "'"$question"'",
  "about": {"people": [{"handle": {"kind": "custom", "value": "'"$name"'"}}], "actions": ["chat"]}}'
echo
# Each event has an id, a type and a line of data. curl ends when the loop closes its output.
while IFS= read -r line; do
  case $line in
    "id: "*) id=${line#id: } ;;
    "data: "*) data=${line#data: } ;;
    "")
      [ -n "${data-}" ] || continue
      if [[ ${data,,} == *"\"${question,,}\""* ]]; then echo "$data"; done=1; fi
      json "$base/v1/acknowledged" -d '{"through": '"$id"'}' >/dev/null
      [ -z "${done-}" ] || break
      data= ;;
  esac
done < <(call -N "$base/v1/events")
