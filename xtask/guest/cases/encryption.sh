# The test of encryption maps the drive by dm-crypt, and takes that away whatever ends the test.

encryption-of-nvme() { # full
  local drive setting part; drive=$(fresh nvme)
  encrypts "$drive"; ended 280
  [ "$code" = 0 ] || wrong "expected a run, got exit $code: $(reason)"
  unmapped_by_now 0
  for setting in plain encrypted encrypted-with-trim; do
    for part in sequential-write random-write sequential-read random-read used after-trim; do
      grep -qF "\"$part, $setting\"" <<< "$output" || wrong "expected $part, $setting, got none: $(reason)"
    done
  done
  ! grep -qF '"kind": "no-encryption"' <<< "$output" || wrong 'expected encryption, got word that there is none'
  ! grep -qE '"kind": "(other-load|failed-ios)"' <<< "$output" || wrong 'expected no doubt, got other load or failed I/Os'
  found 'expected figures of all settings and no mapping, got them'
  runs "$drive"
}

encryption-of-sata-interrupted() { # full
  local drive; drive=$(fresh sata)
  encrypts "$drive"; mapped_by_it
  [ -e "/sys/class/block/$(basename "$drive")/holders" ] || wrong 'expected holders'
  interrupted; ended 30
  [ "$code" = 130 ] || wrong "expected exit 130, got $code: $(reason)"
  unmapped_by_now 0
  runs "$drive"
}

encryption-of-scsi-killed() { # full
  local drive; drive=$(fresh scsi)
  encrypts "$drive"; mapped_by_it
  kill -KILL "$run"; wait "$run" || :
  unmapped_by_now 50
  runs "$drive"
}

encryption-left-over() { # full
  local drive number name; drive=$(fresh scsi); name=$(consent "$drive")
  number=$(cat "/sys/class/block/$(basename "$drive")/dev"); number=${number/:/-}
  # As if it had been killed before it told the kernel to remove the mapping.
  dmsetup create "writecliff-$number" --uuid "WRITECLIFF-$number" --table \
    "0 $(blockdev --getsz "$drive") crypt aes-xts-plain64 $(printf '%0128d' 1) 0 $drive 0"
  udevadm settle
  runs "$drive" "$name"
  unmapped_by_now 0
}

encryption-mapping-in-use() { # full
  local drive number; drive=$(fresh scsi)
  number=$(cat "/sys/class/block/$(basename "$drive")/dev"); number=${number/:/-}
  dmsetup create "writecliff-$number" --uuid "WRITECLIFF-$number" --table \
    "0 $(blockdev --getsz "$drive") crypt aes-xts-plain64 $(printf '%0128d' 1) 0 $drive 0"
  opened "/dev/mapper/writecliff-$number" rb
  refused "$drive" # somebody needs it
}

encryption-keeps-others-out() { # full
  local drive; drive=$(fresh scsi)
  encrypts "$drive"; mapped_by_it
  ! mkfs.ext4 -q -F "$drive" || wrong 'expected that nobody can claim the drive, got a file system'
  opened "$drive" r+b
  ended 60; fails
  grep -q 'open for writing' <<< "$output" || wrong "expected that it is in use, got: $(reason)"
  unmapped_by_now 0
}

encryption-that-cannot-be() { # full
  local drive number; drive=$(fresh scsi)
  number=$(cat "/sys/class/block/$(basename "$drive")/dev"); number=${number/:/-}
  dmsetup create "writecliff-$number" --table '0 2048 zero' # the name is taken
  encrypts "$drive"; ended 200
  [ "$code" = 0 ] || wrong "expected a run, got exit $code: $(reason)"
  grep -qF '"kind": "no-encryption"' <<< "$output" || wrong 'expected word that there is none, got none'
  grep -qF '"after-trim, plain"' <<< "$output" || wrong 'expected figures of the plain drive, got none'
  ! grep -qF '"after-trim, encrypted"' <<< "$output" || wrong 'expected no encryption, got figures of it'
  dmsetup remove "writecliff-$number"
  runs "$drive"
}
