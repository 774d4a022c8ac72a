# Who comes a moment after the check.

drive-opened-a-moment-after-the-check() { # full 1500s
  local drive name; drive=$(fresh sata); name=$(consent "$drive")
  python3 - "$drive" "$name" <<'END' || wrong 'expected that never both go on, got a run beside another opener'
# Opens it at a random moment, and keeps it. The tool must refuse without having written; or, if its first
# write was on its way by then, end by itself and say why. Which of these is right for a moment between its last
# look and its first write to reach the kernel's counters, nobody outside can tell.
import os, random, shutil, subprocess, sys, time
drive, consent = sys.argv[1:]
def written():
    fields = open(f"/sys/class/block/{os.path.basename(drive)}/stat").read().split()
    return fields[4], fields[6], fields[11]
began, refused, ended, until = time.time(), 0, 0, 0.8
while refused + ended < 1000 and time.time() < began + 1400:
    before = written()
    tool = subprocess.Popen(["writecliff", "run", "consistency", drive, "--quick", "--duration", "1s",
        "--destroy-data-on", consent, "--out", "/tmp/race"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    time.sleep(random.uniform(0, until))
    fd = os.open(drive, os.O_RDWR)
    said = tool.communicate()[1]
    if tool.returncode == 3 and written() == before:
        refused += 1; until = min(1.5, until * 1.02)
    elif tool.returncode == 1 and "in use" in said:
        ended += 1; until *= 0.98   # too late: aim earlier
    else:
        sys.exit(f"round {refused + ended}: exit {tool.returncode}, {said}")
    os.close(fd)
    shutil.rmtree("/tmp/race", ignore_errors=True)
print(refused, "times refused,", ended, "times ended")
END
  found 'expected that never both go on, got that'
}

drive-mounted-a-moment-after-the-check() { # full 600s
  local drive round=0; drive=$(fresh sata)
  while [ $((round += 1)) -le 40 ]; do
    fresh sata
    launched "$drive" 1s
    sleep "0.$((RANDOM % 90 + 10))"
    if mkfs.ext4 -q -F "$drive" && mount "$drive" /mnt; then
      code=0; wait "$run" || code=$?
      [ $code = 3 ] || wrong "expected refusal of what was mounted first, got exit $code"
      umount /mnt; e2fsck -fn "$drive" || wrong 'expected a whole file system, got a broken one'
    fi
    kill -KILL "$run" || :; wait "$run" || :
  done
  found 'expected never both, got never both'
}
