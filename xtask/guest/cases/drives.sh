# A drive that nobody uses can be tested, whatever it is and whatever it is plugged into.

runs-on-nvme() { # quick
  runs "$(fresh nvme)"
}

runs-on-nvme-with-4096-byte-blocks() { # full
  runs "$(fresh nvme-4k)"
}

runs-on-nvme-without-discard() { # full
  runs "$(fresh nvme-no-discard)"
}

runs-on-nvme-with-metadata() { # full
  runs "$(fresh nvme-metadata)"
}

runs-on-nvme-with-protection() { # full
  runs "$(fresh nvme-protected)"
}

runs-on-one-path-to-nvme() { # full paths
  runs "$(fresh nvme-pair)"
}

runs-on-nvme-multipath() { # full
  runs "$(fresh nvme-pair)"
}

runs-on-sata() { # full
  runs "$(fresh sata)"
}

runs-on-hard-disk() { # full
  runs "$(fresh hdd)"
}

runs-on-scsi() { # full
  runs "$(fresh scsi)"
}

runs-on-scsi-with-4096-byte-blocks() { # full
  runs "$(fresh scsi-4k)"
}

runs-on-usb() { # full
  runs "$(fresh usb)"
}

runs-on-usb-without-serial() { # full
  runs "$(fresh usb-nameless)"
}

runs-on-uas() { # full
  runs "$(fresh uas)"
}

runs-on-virtio() { # full
  runs "$(fresh virtio)"
}

runs-on-virtio-without-serial() { # full
  runs "$(fresh virtio-nameless)"
}

runs-on-sd-card() { # full
  runs "$(fresh sd-card)"
}

runs-on-8-TiB() { # full
  runs "$(at nvme-huge)" # no other case writes it, and zeros over all of it would take hours
}

runs-on-partition-of-unused-drive() { # full
  local drive; drive=$(fresh sata)
  partitions "$drive" 40M 40M
  runs "${drive}2"
}

tiny-drive-is-refused() { # full
  refused "$(at tiny)" TINY
}

read-only-drive-is-refused() { # quick
  local drive; drive=$(fresh hdd)
  blockdev --setro "$drive"
  refused "$drive" SATA-HDD
}

drive-that-fails-every-write() { # full
  test_it "$(at nvme-read-only)"
  fails
}

# Of all NVMe drives together, but for those of their administration.
interrupts() {
  awk '/nvme[0-9]+q[1-9]/ {for (i = 2; $i ~ /^[0-9]+$/; i++) sum += $i} END {print sum}' /proc/interrupts
}

# of_a_run OPTION...: how many interrupts a short test of $drive takes.
of_a_run() {
  # Long enough that what comes before the writes, which is not polled, is little beside them.
  local before agreed lasts=2s; agreed=$(consent "$drive"); before=$(interrupts)
  test_it "$drive" "$agreed" "$@" >&2
  [ "$code" = 0 ] || wrong "expected a run, got exit $code: $(reason)"
  echo $(($(interrupts) - before))
}

completions-are-polled-where-there-are-queues-for-it() { # quick
  local drive usual polled; drive=$(fresh nvme)
  usual=$(of_a_run); polled=$(of_a_run --poll)
  grep -q '"poll": true' /tmp/out/run.json || wrong 'the record does not say that it polled'
  # What is looked at before a run is not polled, however little the run does on a busy machine.
  [ $((polled * 2)) -lt "$usual" ] || wrong "expected next to no interrupts, got $polled, and $usual without --poll"
  drive=$(fresh sata)
  test_it "$drive" "$(consent "$drive")" --poll
  [ "$code" = 2 ] && grep -q 'cannot be polled' <<< "$output" ||
    wrong "expected a word that SATA cannot be polled, got exit $code: $(reason)"
  found "$polled interrupts polled, $usual without; refused for SATA"
}

W6-zoned-nvme() { # quick
  refused "$(at nvme-zoned)"
}

W6-zoned-scsi() { # full
  modprobe scsi_debug zbc=managed zone_size_mb=16 dev_size_mb=96
  udevadm settle
  refused "$(scsi_debug)"
}

W6-host-aware-zoned-scsi() { # full
  modprobe scsi_debug zbc=aware zone_size_mb=16 dev_size_mb=96
  udevadm settle
  refused "$(scsi_debug)"
}

# What is said of a drive's cache is what the kernel does with flushes, which the administrator can change.
cache-is-told-as-the-kernel-takes-it() { # full
  local drive queue taken; drive=$(fresh nvme)
  queue=/sys/block/${drive##*/}/queue/write_cache
  for taken in 'write through' 'write back'; do
    echo "$taken" > "$queue"
    says "$taken" writecliff drives "$drive"
    runs "$drive"
    grep -q "\"write_cache\": *\"$taken\"" /tmp/out/run.json || wrong "expected '$taken' in the record"
  done
}
