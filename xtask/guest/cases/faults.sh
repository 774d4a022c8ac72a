# Drives that hang, fail and vanish while they are tested: the run ends with the truth, in time.

W5-a-hung-drive-is-seen-every-second() { # full
  local drive lines; drive=$(plugged 0)
  started "$drive" 60s --io-timeout 30s
  silenced "$drive"; sleep 3
  lines=$(wc -l < /tmp/started.log); sleep 6
  [ "$(wc -l < /tmp/started.log)" -gt "$lines" ] || wrong 'expected news of a hung drive, got none for 6 s'
  interrupted; sleep 1.5
  tail -n +$((lines + 1)) /tmp/started.log | grep -q 'Ctrl-C:' || wrong 'expected an answer to Ctrl-C, got none in 1.5 s'
  pulled "$drive" # the kernel gives its I/Os up
  ended 60
  # Whichever the run learns of first: that it was to end, or that they failed.
  [ "$code" = 130 ] || fails
  found "expected an end, got exit $code"
}

W5-a-hang-is-counted-in-its-seconds() { # full
  local drive; drive=$(plugged 0)
  started "$drive" 60s
  stalled plugged0; sleep 6; throttled plugged0 0
  ended 120
  [ "$(dead_seconds)" -ge 3 ] || wrong "expected dead seconds, got $(dead_seconds)"
  found "expected dead seconds, got $(dead_seconds)"
}

W12-a-hang-at-the-end-fails-the-run() { # full
  local drive; drive=$(plugged 0)
  started "$drive" 8s --io-timeout 10s
  sleep 2; silenced "$drive"
  sleep 45; pulled "$drive"
  ended 120
  fails
}

W12-an-io-that-never-ends-ends-the-run() { # full
  local drive; drive=$(plugged 0)
  started "$drive" 300s --io-timeout 3s
  silenced "$drive"
  until grep -q 'not answered' /tmp/started.log; do sleep 0.5; kill -0 "$run" || break; done
  pulled "$drive"
  ended 60
  fails
  says 'not answered' cat /tmp/started.log
}

W12-a-drive-that-stalls-ends-the-run() { # full
  local drive; drive=$(plugged 0)
  started "$drive" 300s --io-timeout 2s
  stalled plugged0
  until grep -q 'not answered' /tmp/started.log; do sleep 0.5; kill -0 "$run" || break; done
  throttled plugged0 0 # the process cannot end before the kernel has its I/Os back
  ended 30
  fails
}

W12-ctrl-c-in-a-healthy-run() { # full
  started "$(fresh nvme)" 300s
  interrupted
  ended 20
  [ "$code" = 130 ] || wrong "expected exit 130, got $code"
  found 'expected an interrupted run, got exit 130'
}

W10-pulled-nvme() { # quick
  local drive; drive=$(plugged 1)
  started "$drive" 300s
  pulled "$drive"
  ended 30
  fails; tells_it_is_gone
}

W10-unplugged-nvme() { # full
  local drive; drive=$(plugged 1)
  started "$drive" 300s
  unplugged 1
  ended 60
  fails; tells_it_is_gone
}

W10-pulled-usb() { # full
  local drive; drive=$(fresh usb)
  started "$drive" 300s
  deleted "$drive"
  ended 30
  fails; tells_it_is_gone
}

W10-pulled-scsi() { # full
  local drive host
  modprobe scsi_debug dev_size_mb=96 lbpu=1 max_queue=64
  udevadm settle; drive=$(scsi_debug)
  started "$drive" 300s
  deleted "$drive"
  ended 30
  fails; tells_it_is_gone
}

W10-drive-below-a-mapping-is-pulled() { # full
  local drive; drive=$(plugged 1)
  mapped top linear "$drive" 0
  started /dev/mapper/top 300s
  pulled "$drive"
  ended 30
  fails
}

W11-discard-that-fails() { # quick
  # a drive that has no format of its own
  local drive; drive=$(plugged 2 '{"event":"none","iotype":"discard","errno":5},{"event":"none","iotype":"write-zeroes","errno":5}' virtio-blk-pci)
  runs "$drive"
  says 'not purged' cat /tmp/log
}

W11-format-that-fails() { # full
  # QEMU's namespace takes no I/O any more then, as the standard allows.
  test_it "$(plugged 2 '{"event":"none","iotype":"write-zeroes","errno":5}')"
  fails
}

W11-discard-that-fails-on-scsi() { # full
  modprobe scsi_debug dev_size_mb=96 lbpu=1 max_queue=64
  udevadm settle
  local drive; drive=$(scsi_debug)
  echo 0 > "/sys/block/${drive##*/}/device/scsi_disk/$(ls "/sys/block/${drive##*/}/device/scsi_disk")/max_write_same_blocks"
  runs "$drive"
}

W7-every-write-fails() { # full
  test_it "$(plugged 3 '{"event":"none","iotype":"write","errno":5}')"
  fails
}

W7-one-bad-block-is-named() { # full
  local drive; drive=$(plugged 3 '{"event":"none","iotype":"write","errno":5,"sector":8192}')
  test_it "$drive"
  grep -qwrE '8192|4194304' /tmp/out/run.json || wrong 'expected the bad LBA, 8192, in the record, got none'
  found 'expected the bad LBA in the record, got it'
}

W7-file-on-a-full-filesystem() { # full
  mounted "$(fresh scsi)"
  truncate -s 512M /mnt/fs/file
  test_it /mnt/fs/file /mnt/fs/file
  fails
  grep -q 'file system that it is on is full' <<< "$output" || wrong "expected word of the file system, got: $(reason)"
  code=0; writecliff gate /tmp/out --min-worst-iops 1 || code=$?
  [ $code != 0 ] || wrong 'expected that no gate passes it, got a pass'
  found 'expected exit 1 and no gate that passes it, got both'
}

W19-bad-block-under-a-signature() { # quick
  local drive; drive=$(plugged 3 '{"event":"none","iotype":"read","errno":5,"sector":2}')
  refused "$drive" SPARE3
  ! grep -q 'mount /proc' <<< "$output" || wrong "expected word of the bad block, got advice on /proc"
  grep -q 'cannot be read' <<< "$output" || wrong "expected word of the bad block, got: $(reason)"
  found "expected word of the bad block, got it: $(reason)"
}

W22-stopped-process-is-no-fault-of-the-drive() { # full
  started "$(fresh nvme)" 30s
  kill -STOP "$run"; sleep 4; kill -CONT "$run"
  ended 90
  says_so_of_a_pause
}

W22-paused-machine-is-no-fault-of-the-drive() { # full
  started "$(fresh nvme)" 30s
  pause 4
  ended 90
  says_so_of_a_pause
}

slow-drive-runs() { # full
  local drive; drive=$(plugged 2)
  throttled plugged2 400
  runs "$drive"
}

switched-to-read-only-in-a-run() { # full both
  local drive; drive=$(fresh nvme)
  started "$drive" 300s
  blockdev --setro "$drive"
  ended 30
  fails
  says 'switched to read-only' cat /tmp/started.log
}

resized-in-a-run() { # full both
  local drive; drive=$(plugged 1 '' virtio-blk-pci)
  started "$drive" 300s
  qmp '{"execute":"block_resize","arguments":{"node-name":"node1","size":209715200}}'
  ended 30
  fails
  says 'was resized' cat /tmp/started.log
}
