# Purges by a drive's own command: what is left is looked for in the host's file, behind the drive.

# purge DEVICE [OPTION...]: leaves its exit code in $code and what it says in $output.
purge() {
  local device=$1; shift; code=0
  output=$(writecliff purge "$device" --destroy-data-on "$(consent "$device")" "$@" 2>&1) || code=$?
  echo "$output"
}

# filled NAME: the device of a drive whose first 8 MiB are no zeros, in the host's file too.
filled() {
  local device; device=$(fresh "$1")
  mkdir -p /run/images
  [ -e "/run/images/$1" ] || mount -t 9p -o ro,trans=virtio,version=9p2000.L images /run/images
  dd if=/dev/urandom of="$device" bs=1M count=8 oflag=direct 2> /run/dd
  cmp -s -n 8388608 "/run/images/$1" "$device" || wrong "the host's file is not what $1 holds"
  echo "$device"
}

# erased NAME: nothing but zeros is left in the host's file.
erased() {
  cmp -s -n "$(stat -c %s "/run/images/$1")" "/run/images/$1" /dev/zero ||
    wrong 'expected an erased drive, got data in the host'\''s file'
  found 'expected an erased drive, got zeros in the host'\''s file'
}

nvme-format-erases-in-the-hosts-file() { # quick
  local device; device=$(filled nvme)
  purge "$device"
  [ $code = 0 ] || wrong "expected a purge, got exit $code: $(reason)"
  grep -q 'is purged by format' <<< "$output" || wrong "expected a format by default, got: $output"
  grep -q 'none held what it had held' <<< "$output" || wrong "expected a read-back, got: $output"
  erased nvme
}

nvme-format-keeps-lba-size-and-metadata() { # full
  local name device before after
  for name in nvme-4k nvme-metadata; do
    device=$(filled "$name")
    before=$(nvme id-ns "$device" | grep -E '^(flbas|dps|nsze|lbaf.*in use)')
    purge "$device" --purge format
    [ $code = 0 ] || wrong "expected a purge, got exit $code: $(reason)"
    after=$(nvme id-ns "$device" | grep -E '^(flbas|dps|nsze|lbaf.*in use)')
    [ "$before" = "$after" ] || wrong "expected the same format, got $after for $before"
    erased "$name"
  done
}

nvme-revert-erases-no-other-namespace() { # quick
  local device code=0; device=$(filled nvme)
  output=$(writecliff psid-revert "$device" --psid 0123456789ABCDEF0123456789ABCDEF \
    --destroy-data-on "$(consent "$device")" 2>&1) || code=$?
  echo "$output"
  [ $code = 3 ] || wrong "expected a refusal, got exit $code"
  grep -q 'not the only namespace of its drive' <<< "$output" || wrong "expected the reason, got: $output"
}

nvme-run-is-purged-as-chosen() { # full
  local device how; device=$(filled nvme)
  for how in format discard; do
    writecliff run consistency "$device" --destroy-data-on "$(consent "$device")" --quick --duration 1s \
      --purge "$how" --out "/tmp/$how" --json > /run/record 2> /run/log || wrong "exit $?: $(tail -n 1 /run/log)"
    grep -q "\"how\": *\"$how\"" /run/record || wrong "expected a purge by $how, got $(grep '"how"' /run/record)"
  done
  python3 -c "
import json
record = json.load(open('/run/record'))
phase = next(phase for phase in record['phases'] if phase['name'] == 'fill')
if phase['after']['host_written'] == phase['before']['host_written']: raise SystemExit('nothing counted')
if phase['after']['own']['media_errors'] != 0: raise SystemExit('errors')
" 2> /run/differs || wrong "expected the drive's own count of a fill, got $(tail -n 1 /run/differs)"
  found 'expected the purge that was chosen and the drive'\''s own counts, got both'
}

purge-that-the-drive-has-not-is-told() { # full
  local device; device=$(fresh nvme)
  purge "$device" --purge sanitize-block
  [ $code = 2 ] || wrong "expected exit 2, got $code: $(reason)"
  grep -q 'by its own word the drive has format' <<< "$output" || wrong "expected what it has, got: $output"
  device=$(fresh sata)
  purge "$device" --purge ata-secure-erase
  [ $code = 2 ] || wrong "expected exit 2, got $code: $(reason)"
  device=$(fresh virtio)
  purge "$device" --purge format
  [ $code = 2 ] || wrong "expected exit 2, got $code: $(reason)"
  found 'expected exit 2 and what the drive has, got both'
}

purge-of-a-drive-in-use-is-refused() { # quick
  local device name; device=$(filled nvme); name=$(consent "$device")
  mkfs.ext4 -q -F "$device"; mount "$device" /mnt
  code=0; output=$(writecliff purge "$device" --destroy-data-on "$name" 2>&1) || code=$?
  [ $code = 3 ] || wrong "expected refusal, got exit $code: $(reason)"
  umount /mnt
  e2fsck -fn "$device" || wrong 'expected a whole file system, got a broken one'
  found "expected refusal, got refusal (exit 3): $(reason)"
}
