# Who comes a moment after the check.

drive-opened-a-moment-after-the-check() { # full 600s
  local drive round=0 both=0; drive=$(fresh sata)
  # Opens it for writing again and again, as a program without O_EXCL does, and writes a mark.
  python3 -c "
import os, time
while True:
    fd = os.open('$drive', os.O_RDWR); time.sleep(0.02); os.close(fd); time.sleep(0.3)" &
  while [ $((round += 1)) -le 40 ]; do
    test_it "$drive"
    [ "$code" = 3 ] || [ "$code" = 0 ] || wrong "expected a refusal or a run, got exit $code: $(reason)"
  done
  found 'expected a refusal or a run, got one of both 40 times'
}

drive-mounted-a-moment-after-the-check() { # full 600s
  local drive round=0; drive=$(fresh sata)
  while [ $((round += 1)) -le 20 ]; do
    fresh sata
    writecliff run consistency "$drive" --destroy-data-on "$(consent "$drive")" --quick --duration 1s --out /tmp/race > /tmp/race.log 2>&1 &
    run=$!
    sleep "0.0$((RANDOM % 90 + 10))"
    if mkfs.ext4 -q -F "$drive" && mount "$drive" /mnt; then
      code=0; wait $run || code=$?
      [ $code = 3 ] || wrong "expected refusal of what was mounted first, got exit $code"
      umount /mnt; e2fsck -fn "$drive" || wrong 'expected a whole file system, got a broken one'
    fi
    wait $run || :
    rm -rf /tmp/race
  done
  found 'expected never both, got never both'
}
