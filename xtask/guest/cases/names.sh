# Names: consent says exactly one drive, and hostile names do nothing.

W9-serial-of-two-namespaces-is-no-consent() { # quick
  refused "$(fresh nvme)" NVME-NS
}

W9-serial-of-two-drives-is-no-consent() { # full
  refused "$(fresh twin1)" 0123456789ABCDEF
}

W9-twin-runs-with-the-consent-that-is-asked-for() { # full
  runs "$(fresh twin2)"
}

W9-refusal-names-the-consent() { # full
  local drive name; drive=$(fresh twin1)
  test_it "$drive" nobody
  name=$(sed -n "s/.*--destroy-data-on '\([^']*\)'.*/\1/p" <<< "$output" | head -n 1)
  [ "$name" = "$(consent "$drive")" ] || wrong "expected '$(consent "$drive")', got '$name'"
  runs "$drive" "$name"
}

W9-no-consent-names-two-drives() { # full
  local device all
  all=$(for device in /dev/nvme*n? /dev/sd? /dev/vd[b-z] /dev/mmcblk0; do wipefs -qaf "$device"; consent "$device"; done | sort)
  [ -z "$(uniq -d <<< "$all")" ] || wrong "expected consents that differ, got twice: $(uniq -d <<< "$all")"
  found "expected consents that differ, got $(wc -l <<< "$all") of them"
}

W9-serial-of-one-drive-is-consent() { # full
  runs "$(fresh sata)" SATA-SSD
}

W9-wwn-of-the-other-twin-is-no-consent() { # full
  local one; one=$(fresh twin1); fresh twin2
  refused "$one" "$(consent "$(at twin2)")"
}

consent-of-another-drive() { # full
  refused "$(fresh sata)" SCSI-SSD
}

no-consent() { # full
  refused "$(fresh sata)" ''
}

W16-escapes-in-a-name-reach-no-terminal() { # full
  ! writecliff drives | grep -q $'\e' || wrong 'expected no escape codes, got some'
  ! writecliff drives "$(at escapes)" | grep -q $'\e' || wrong 'expected no escape codes, got some'
  test_it "$(fresh escapes)" ''
  ! grep -q $'\e' <<< "$output" || wrong 'expected no escape codes, got some'
  found 'expected no escape codes, got none'
}

W16-name-with-escapes-runs() { # full
  runs "$(fresh escapes)"
  ! grep -q $'\e' <<< "$output" || wrong 'expected no escape codes, got some'
}

W16-name-with-apostrophe-can-be-pasted() { # quick
  runs "$(fresh apostrophe)"
}

W16-name-with-markup() { # full
  runs "$(fresh markup)"
  ! grep -rqF '<script>alert' /tmp/out/report/index.html || wrong 'expected escaped markup, got a script'
}

W17-drives-says-everything-of-a-device() { # quick
  local device; device=$(fresh nvme-4k)
  says 4096 writecliff drives "$device"
}

W17-one-hung-drive-does-not-silence-the-list() { # full
  local drive; drive=$(plugged 0)
  silenced "$drive"
  says "$(at sata)" timeout 40 writecliff drives
}

W18-gate-does-not-write-over-a-drive() { # full
  local drive before; drive=$(fresh sata); before=$(written "$drive")
  writecliff run consistency null: --duration 1s --quick --out /tmp/null
  code=0; writecliff gate /tmp/null --min-worst-iops 1 --junit "$drive" || code=$?
  sync
  [ "$before" = "$(written "$drive")" ] || wrong 'expected nothing written, got a report on the drive'
  [ $code != 0 ] || wrong 'expected an error, got exit 0'
  found "expected an error, got exit $code"
}

W21-review-goes-on-under-another-name() { # full
  local one two; one=$(fresh two-paths); two=$(at two-paths 2)
  writecliff review "$one" --quick --destroy-data-on "$(consent "$one")" --out /tmp/review > /tmp/started.log 2>&1 &
  run=$!
  until grep -q '^spare-area' /tmp/started.log; do sleep 1; kill -0 $run; done
  interrupted; ended 30
  deleted "$one"; sleep 1 # what is left of it has another name
  writecliff review --resume /tmp/review --destroy-data-on "$(consent "$two")" > /tmp/resumed.log 2>&1 &
  run=$!
  sleep 10
  kill -0 $run || wrong "expected that it goes on, got: $(grep -m 1 '^writecliff' /tmp/resumed.log)"
  ! grep -q '^consistency:' /tmp/resumed.log || wrong 'expected what was done to be kept, got it done again'
  found 'expected that it goes on, it does'
}

W21-review-does-not-go-on-with-another-drive() { # full
  local one two; one=$(fresh twin1); two=$(fresh twin2)
  writecliff review "$one" --quick --destroy-data-on "$(consent "$one")" --out /tmp/review > /tmp/started.log 2>&1 &
  run=$!
  until grep -q torture /tmp/started.log; do sleep 1; kill -0 $run; done
  interrupted; ended 30
  sed -i "s|$one|$two|g" /tmp/review/review.json /tmp/review/*/run.json 2> /dev/null || :
  local before; before=$(written "$two")
  # The review may go on with the drive that it began with, which is still here.
  timeout -s INT -k 10 15 writecliff review --resume /tmp/review --destroy-data-on "$(consent "$one")" || :
  [ "$before" = "$(written "$two")" ] || wrong 'expected nothing written on the twin, got writes'
  found 'expected nothing written on the twin, got nothing written'
}

W27-mapping-is-named-by-its-name() { # quick
  mapped top linear "$(fresh member1)" 0
  [ "$(consent /dev/mapper/top)" = /dev/mapper/top ] || wrong "expected /dev/mapper/top, got $(consent /dev/mapper/top)"
  refused "$(readlink -f /dev/mapper/top)" "$(readlink -f /dev/mapper/top)"
  runs /dev/mapper/top /dev/mapper/top
}

W27-volume-is-named-by-its-name() { # full
  group member1
  lvcreate -qq -y -n top -L 64M group
  [ "$(consent /dev/group/top)" = /dev/mapper/group-top ] || wrong "expected /dev/mapper/group-top, got $(consent /dev/group/top)"
  runs /dev/group/top /dev/mapper/group-top
}

W26-file-whose-name-is-no-text() { # full
  mounted "$(fresh roomy)"
  local file=$'/mnt/fs/f\xff'
  truncate -s 96M "$file"
  runs "$file" "$file"
}

by-id-link-runs() { # full
  local drive link; drive=$(fresh sata)
  link=$(find /dev/disk/by-id -lname "*/${drive##*/}" | head -n 1)
  runs "$link"
}
