# Whoever can still read or write a drive, in every way in which Linux lets a process keep hold of blocks
# (holder.c), and in those in which the kernel does: nothing is written.

# By a descriptor of whatever thread, process or namespace, and by a mapping.
PLAIN='reading writing writing-only direct thread leader-gone leader-gone-own-table leader-gone-mapped clone
  fork mapped mapped-reading mapped-executable mapped-nothing mapped-private pid-namespace mount-namespace
  user-namespace stopped'
# By what no descriptor shows.
HIDDEN='registered registered-among-others registered-by-thread in-flight in-flight-reading
  in-flight-datagram in-flight-packet in-flight-behind-another in-flight-in-flight'
# By nodes of their own.
NODES='own-node own-node-removed registered-by-own-node'
# What cannot write.
READING='reading mapped-reading in-flight-reading'

# since MAJOR.MINOR: the kernel is not older.
since() {
  [ "$(printf '%s\n' "$1" "$(uname -r)" | sort -V | head -n 1)" = "$1" ]
}

# newer_ways: what only newer kernels tell of.
newer_ways() {
  since 6.3 && echo in-flight-unaccepted # descriptors sent to a server that has not accepted
  return 0
}

# everybody_is_named DEVICE WAY...: all of them hold it at once, each is named, and no byte changes.
everybody_is_named() {
  local device=$1 way before groups name ways=("${@:2}") pids=()
  name=$(consent "$device")
  for way in "${ways[@]}"; do holds "$way" "$device"; pids+=("$holder"); done
  before=$(holder digest "$device")
  refused "$device" "${name:-$device}"
  [ "$before" = "$(holder digest "$device")" ] || wrong 'expected no byte changed, got another digest'
  groups=$(sed -n 's/.*(process \([0-9]*\)).*/\1/p' <<< "$output" | xargs ps -o pgid= -p)
  for way in "${!ways[@]}"; do
    grep -qw "${pids[$way]}" <<< "$groups" || wrong "expected '${ways[$way]}' to be named, got: $output"
  done
  found "expected ${#ways[@]} ways of holding it to be named, got all of them"
}

holders-of-nvme() { # quick both
  # shellcheck disable=SC2046,SC2086
  everybody_is_named "$(fresh nvme)" $PLAIN $HIDDEN $NODES $(newer_ways)
}

holders-of-sata() { # full both
  everybody_is_named "$(fresh sata)" $PLAIN $HIDDEN $NODES $(newer_ways)
}

holders-of-scsi() { # full both
  everybody_is_named "$(fresh scsi)" $PLAIN $HIDDEN $NODES $(newer_ways)
}

holders-of-virtio() { # full both
  everybody_is_named "$(fresh virtio)" $PLAIN $HIDDEN $NODES $(newer_ways)
}

holders-of-a-partition() { # full both
  local drive; drive=$(fresh sata)
  partitions "$drive" 40M 40M
  everybody_is_named "${drive}1" $PLAIN $HIDDEN $NODES $(newer_ways)
}

holders-of-a-loop-device() { # full both
  mounted "$(fresh roomy)"
  truncate -s 64M /mnt/fs/file
  everybody_is_named "$(losetup --find --show /mnt/fs/file)" $PLAIN $HIDDEN $NODES $(newer_ways)
}

holders-of-a-mapping() { # full both
  mapped top linear "$(fresh member1)" 0
  everybody_is_named "$(readlink -f /dev/mapper/top)" $PLAIN $HIDDEN $NODES $(newer_ways)
}

holders-of-an-array() { # full both
  array 1 member1 member2
  wipefs -qaf /dev/md0
  everybody_is_named /dev/md0 $PLAIN $HIDDEN $NODES $(newer_ways)
}

holders-of-a-test-file() { # full both
  mounted "$(fresh roomy)"
  truncate -s 64M /mnt/fs/file
  everybody_is_named /mnt/fs/file $PLAIN $HIDDEN
}

# Whoever writes what a mapping stands on; reading it is what daemons do.
holders-below-a-mapping() { # full both
  local drive way ways=(); drive=$(fresh member1)
  mapped top linear "$drive" 0
  for way in $PLAIN $HIDDEN $NODES; do
    [[ " $READING mapped-private " = *" $way "* ]] || ways+=("$way")
  done
  local pids=() before groups
  for way in "${ways[@]}"; do holds "$way" "$drive"; pids+=("$holder"); done
  before=$(holder digest "$drive")
  refused /dev/mapper/top /dev/mapper/top
  [ "$before" = "$(holder digest "$drive")" ] || wrong 'expected no byte changed, got another digest'
  groups=$(sed -n 's/.*(process \([0-9]*\)).*/\1/p' <<< "$output" | xargs ps -o pgid= -p)
  for way in "${!ways[@]}"; do
    grep -qw "${pids[$way]}" <<< "$groups" || wrong "expected '${ways[$way]}' to be named, got: $output"
  done
}

ring-whose-descriptor-is-closed-is-told() { # full both
  local drive; drive=$(fresh nvme)
  holds registered-ring-closed "$drive"
  says 'with io_uring' writecliff drives "$drive"
}

ring-whose-descriptor-is-closed-holds-a-mapping() { # full both
  mapped top linear "$(fresh member1)" 0
  holds registered-ring-closed "$(readlink -f /dev/mapper/top)"
  refused /dev/mapper/top /dev/mapper/top
}

ring-whose-descriptor-is-closed-holds-a-file() { # full both
  mounted "$(fresh roomy)"
  truncate -s 64M /mnt/fs/file
  holds registered-ring-closed /mnt/fs/file
  refused /mnt/fs/file /mnt/fs/file
}

scsi-generic-node-open() { # full both
  local drive sg; drive=$(fresh sata)
  sg=/dev/$(ls "/sys/block/${drive##*/}/device/scsi_generic")
  holds writing "$sg"
  refused "$drive" SATA-SSD
}

bsg-node-open() { # full both
  local drive bsg; drive=$(fresh sata)
  bsg=/dev/bsg/$(ls "/sys/block/${drive##*/}/device/bsg")
  holds writing "$bsg"
  refused "$drive" SATA-SSD
}

nvme-generic-node-open() { # full both
  local drive; drive=$(fresh nvme)
  holds writing "${drive/nvme/ng}"
  refused "$drive" "$drive"
}

nvme-controller-open() { # full both
  local drive; drive=$(fresh nvme)
  holds writing "${drive%n*}"
  refused "$drive" "$drive"
}

# --- what the kernel gives away -----------------------------------------------------------------

exported-by-a-node-that-was-renamed() { # quick both
  local drive; drive=$(fresh sata)
  nvmet_exports "$drive"
  mv "$drive" /dev/elsewhere
  refused /dev/elsewhere SATA-SSD
}

exported-by-a-path-of-another-mount-namespace() { # full both
  local drive nvmet=/sys/kernel/config/nvmet; drive=$(fresh sata)
  nvmet_exports "$drive"
  echo 0 > $nvmet/subsystems/case/namespaces/1/enable
  unshare --mount bash -ec "mount -t tmpfs tmpfs /mnt; cp -a $drive /mnt/inside
    echo /mnt/inside > $nvmet/subsystems/case/namespaces/1/device_path
    echo 1 > $nvmet/subsystems/case/namespaces/1/enable"
  refused "$drive" SATA-SSD
  echo 0 > $nvmet/subsystems/case/namespaces/1/enable
  runs "$drive"
}

exported-whole-by-nvmet-passthru() { # full both
  local drive nvmet=/sys/kernel/config/nvmet; drive=$(fresh nvme)
  modprobe -a nvmet nvmet_tcp
  mkdir $nvmet/subsystems/case
  echo "${drive%n*}" > $nvmet/subsystems/case/passthru/device_path || { found 'this kernel has none'; return; }
  echo 1 > $nvmet/subsystems/case/passthru/enable || { found 'this kernel has none'; return; }
  refused "$drive" "$drive"
  echo 0 > $nvmet/subsystems/case/passthru/enable
}

# stored NODE: as a file of LIO.
stored() {
  local target=/sys/kernel/config/target/core/fileio_0/case
  modprobe target_core_mod target_core_file
  mkdir -p $target
  echo "fd_dev_name=$1,fd_dev_size=$(blockdev --getsize64 "$1")" > $target/control
  echo 1 > $target/enable
}

exported-by-a-node-with-a-blank() { # full both
  local drive; drive=$(fresh sata)
  cp -a "$drive" '/dev/a drive'
  stored '/dev/a drive'
  refused "$drive" SATA-SSD
  rmdir /sys/kernel/config/target/core/fileio_0/case; rm '/dev/a drive'
}

exported-by-a-node-that-is-no-more() { # full both
  local drive; drive=$(fresh sata)
  cp -a "$drive" /dev/gone
  stored /dev/gone; rm /dev/gone
  refused "$drive" SATA-SSD
  runs "$(fresh scsi)" # it has another size
  rmdir /sys/kernel/config/target/core/fileio_0/case
}

# --- where one cannot see -------------------------------------------------------------------------

in_a_pid_namespace() {
  unshare --pid --fork --mount-proc "$@"
}

in-a-container-a-word-is-needed() { # quick both
  local drive; drive=$(fresh sata)
  holds writing "$drive"
  tool='in_a_pid_namespace writecliff' test_it "$drive" SATA-SSD
  [ "$code" = 3 ] && grep -q others-not-visible <<< "$output" || wrong "expected refusal, got exit $code: $output"
  let_go
  tool='in_a_pid_namespace writecliff' test_it "$drive" SATA-SSD --others-not-visible
  [ "$code" = 0 ] || wrong "expected a run with the word, got exit $code: $output"
  grep -q 'outside of what is seen here' <<< "$output" || wrong "expected a note, got: $output"
}

in-a-user-namespace-a-word-is-needed() { # full both
  local drive; drive=$(fresh sata)
  tool='unshare --user --map-root-user writecliff' test_it "$drive" SATA-SSD
  [ "$code" = 3 ] && grep -q others-not-visible <<< "$output" || wrong "expected refusal, got exit $code: $output"
}

with-the-machine-s-processes-no-word-is-needed() { # full both
  local drive; drive=$(fresh sata)
  # A PID namespace of its own, with the machine's /proc: as with --volume /proc:/proc.
  tool='unshare --pid --fork writecliff' test_it "$drive" SATA-SSD
  [ "$code" = 0 ] || wrong "expected a run, got exit $code: $output"
  holds in-flight "$drive"
  tool='unshare --pid --fork writecliff' test_it "$drive" SATA-SSD
  [ "$code" = 3 ] || wrong "expected refusal, got exit $code: $output"
}

# --- one drive by two names -----------------------------------------------------------------------

# twins SERIAL: the spare drive 0 as two virtio disks of one serial, and no word that they are one.
twins() {
  local number
  for number in 0 1; do
    qmp '{"execute":"blockdev-add","arguments":{"node-name":"node'$number'","driver":"raw","file":{
      "driver":"file","filename":"drives/spare0","locking":"off","cache":{"direct":false}}}}'
    qmp '{"execute":"device_add","arguments":{"driver":"virtio-blk-pci","bus":"spare'$number'",
      "id":"plugged'$number'","share-rw":true,"drive":"node'$number'"'"${1:+,\"serial\":\"$1\"}"'}}'
    echo $number >> /run/plugged
  done
  local tries=100
  until found_at spare0 2; do [ $((tries -= 1)) -gt 0 ] || wrong 'the twins never came'; sleep 0.2; done
  udevadm settle
}

one-drive-by-two-names-of-one-serial() { # quick both
  twins SAME
  encrypted "$(at spare0)"; mounted /dev/mapper/top
  refused "$(at spare0 2)" "$(at spare0 2)"
}

one-drive-by-two-names-without-a-serial() { # full both
  twins ''
  holds writing "$(at spare0)"
  refused "$(at spare0 2)" "$(at spare0 2)"
}

two-drives-of-one-serial-and-size() { # full both
  local one two; one=$(plugged 2 '' virtio-blk-pci); two=$(plugged 3 '' virtio-blk-pci)
  dd if=/dev/urandom of="$one" bs=1M count=8 oflag=direct
  mounted "$one"
  runs "$two"
}

# --- while a test runs ------------------------------------------------------------------------------

# ends_for_a_writer: the test that runs ends, and says why.
ends_for_a_writer() {
  ended 30
  fails
  grep -qE 'somebody else|has .* open for writing' <<< "$output" || wrong "expected word of the writer, got: $(reason)"
  grep -q '"status": *"complete"' /tmp/started/run.json && wrong 'expected a run that is not complete'
  found "expected an end for the writer, got it: $(reason)"
}

written-by-a-node-of-its-own-in-a-run() { # quick both
  local drive; drive=$(fresh sata)
  started "$drive" 300s
  cp -a "$drive" /tmp/node
  dd if=/dev/zero of=/tmp/node bs=4k count=1 seek=9 oflag=direct
  ends_for_a_writer
}

written-by-a-node-of-its-own-in-a-run-on-nvme() { # full both
  local drive; drive=$(fresh nvme)
  started "$drive" 300s
  cp -a "$drive" /tmp/node
  dd if=/dev/zero of=/tmp/node bs=4k count=1 seek=9 oflag=direct
  ends_for_a_writer
}

trimmed-by-a-node-of-its-own-in-a-run() { # full both
  local drive; drive=$(fresh nvme)
  started "$drive" 300s
  cp -a "$drive" /tmp/node
  blkdiscard --force --offset 0 --length 1M /tmp/node
  ends_for_a_writer
}

written-by-its-generic-node-in-a-run() { # full both
  local drive sg; drive=$(fresh sata)
  sg=/dev/$(ls "/sys/block/${drive##*/}/device/scsi_generic")
  started "$drive" 300s
  timeout 10 sg_dd if=/dev/zero of="$sg" blk_sgio=1 bs=512 bpt=8 count=20000 || :
  ends_for_a_writer
}

# Whoever has a node open for reading only may send it write commands, which the kernel does not count.
written-by-commands-that-nobody-counts-in-a-run() { # full both
  local drive; drive=$(fresh nvme)
  started "$drive" 40s
  holder nvme-writes "$drive" || wrong 'a command was not taken'
  ended 90
  grep -q 'written-by-others' /tmp/started/run.json || wrong "expected a doubt, got $(grep -o '"kind": "[a-z-]*"' /tmp/started/run.json | tr '\n' ' ')"
  found 'expected a doubt, got it'
}

opened-below-a-mapping-in-a-run() { # full both
  local drive; drive=$(fresh member1)
  mapped top linear "$drive" 0
  started /dev/mapper/top 300s
  holds writing "$drive"
  ends_for_a_writer
}

read-by-another-in-a-run-goes-on() { # full both
  local drive; drive=$(fresh sata)
  started "$drive" 10s
  dd if="$drive" of=/dev/null bs=64k count=500 iflag=direct
  ended 60
  [ "$code" = 0 ] || wrong "expected a run, got exit $code: $(reason)"
  found 'expected a run beside a reader, got it'
}

written-right-before-the-first-write() { # full both
  local drive; drive=$(fresh sata)
  cp -a "$drive" /tmp/node
  while :; do dd if=/dev/zero of=/tmp/node bs=4k count=1 oflag=direct; sleep 0.1; done 2> /dev/null &
  test_it "$drive" SATA-SSD
  [ "$code" = 3 ] && grep -q 'somebody else' <<< "$output" || wrong "expected refusal, got exit $code: $output"
  found "expected refusal, got it: $(reason)"
}

# --- who may be tested all the same -------------------------------------------------------------------

swap-of-another-root-refuses-nothing-else() { # full both
  local drive other; drive=$(fresh roomy); other=$(fresh sata)
  mounted "$drive"
  fallocate -l 8M /mnt/fs/swap; chmod 600 /mnt/fs/swap; mkswap /mnt/fs/swap; swapon /mnt/fs/swap
  exec 7< /mnt/fs
  umount -l /mnt/fs
  refused "$drive"
  runs "$other"
  swapoff /proc/$$/fd/7/swap
}

an-empty-drive-beside-busy-ones() { # full both
  local way # but a descriptor that cannot be looked at, which may be of any drive
  mounted "$(fresh roomy)"
  fio --name=busy --filename=/mnt/fs/file --size=64M --rw=randwrite --time_based --runtime=100 --direct=1 > /dev/null &
  for way in $PLAIN ${HIDDEN/in-flight-behind-another/}; do holds "$way" "$(at sata)"; done
  runs "$(fresh nvme)"
  runs "$(fresh scsi)"
}

# --- found anew -----------------------------------------------------------------------------------------

# found_anew DEVICE COMMAND: what still holds it holds nothing any more, and it can be tested. The command
# is the tool's own advice.
found_anew() {
  local device=$1 advice
  holds registered "$device"; holds in-flight "$device"
  refused "$device"
  advice=$(writecliff drives "$device" | sed -n 's/^ *found anew *//p')
  [ -n "$advice" ] || wrong 'expected advice, got none'
  echo "advised: $advice"
  bash -ec "$advice"; sleep 1; udevadm settle
}

scsi-drive-that-is-found-anew-is-nobody-s() { # full both
  found_anew "$(fresh scsi)"
  runs "$(at scsi)"
}

nvme-drive-that-is-found-anew-is-nobody-s() { # full both
  found_anew "$(plugged 0)"
  runs "$(at spare0)"
}
