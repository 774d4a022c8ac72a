# Recording what a drive is asked, while it is in use.

W14-recording-on-nvme-multipath() { # quick
  recorded "$(fresh nvme-pair)"
}

recording-on-nvme() { # full
  recorded "$(fresh nvme)"
}

recording-on-sata() { # full
  recorded "$(fresh sata)"
}

recording-on-dm-crypt() { # full
  encrypted "$(fresh member1)"
  recorded /dev/mapper/top
}

W20-recording-of-a-drive-that-goes() { # full
  local drive; drive=$(plugged 1)
  writecliff trace record "$drive" --out /tmp/trace > /tmp/started.log 2>&1 &
  run=$!
  sleep 3
  pulled "$drive"
  ended 30
  fails
  says 'gone' cat /tmp/started.log
}
