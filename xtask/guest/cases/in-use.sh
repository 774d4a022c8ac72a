# Whatever uses a drive, its partitions, another path to it or the same blocks below: nothing is
# written.

mounted-drive() { # full
  local drive; drive=$(fresh scsi)
  mounted "$drive"
  refused "$drive"
}

mounted-partition() { # full
  local drive; drive=$(fresh scsi)
  partitions "$drive" 40M 40M
  mounted "${drive}1"
  refused "$drive"
  refused "${drive}2" # the same drive is in use
}

swap-in-use() { # full
  local drive; drive=$(fresh scsi)
  mkswap "$drive"; swapon "$drive"
  refused "$drive"
}

member-of-running-array() { # full
  array 1 member1 member2
  refused "$(at member1)"
}

member-of-volume-group() { # full
  group member1
  lvcreate -qq -y -n top -L 64M group
  refused "$(at member1)"
}

backing-device-of-mapping() { # full
  local drive; drive=$(fresh member1)
  encrypted "$drive"
  refused "$drive"
}

root-of-the-system() { # quick
  refused /dev/vda /dev/vda
}

W2-open-for-writing() { # full
  local drive; drive=$(fresh sata)
  opened "$drive" r+b
  refused "$drive"
}

W2-open-for-reading() { # full
  local drive; drive=$(fresh sata)
  opened "$drive" rb
  refused "$drive"
}

W2-mapped-and-closed() { # full
  local drive; drive=$(fresh sata)
  python3 -c "
import mmap, os
fd = os.open('$drive', os.O_RDWR); held = mmap.mmap(fd, 4096); os.close(fd)
import time; time.sleep(1000)" &
  sleep 1.5
  refused "$drive"
}

W2-partition-open() { # full
  local drive; drive=$(fresh sata)
  partitions "$drive" 40M 40M
  opened "${drive}1" r+b
  wipefs -qaf "$drive"
  refused "$drive"
}

W2-whole-drive-open-and-partition-tested() { # full
  local drive; drive=$(fresh sata)
  partitions "$drive" 40M 40M
  opened "$drive" r+b
  refused "${drive}2"
}

W2-other-partition-open() { # full
  local drive; drive=$(fresh sata)
  partitions "$drive" 40M 40M
  opened "${drive}1" r+b
  refused "${drive}2"
}

W2-what-it-stands-on-is-open() { # full
  local drive; drive=$(fresh member1)
  mapped top linear "$drive" 0
  opened "$drive" r+b
  refused /dev/mapper/top
}

W2-open-by-another-node() { # full
  local drive; drive=$(fresh sata)
  mknod /tmp/node b $(stat -c '0x%t 0x%T' "$drive")
  opened /tmp/node r+b
  refused "$drive"
}

W2-open-in-another-mount-namespace() { # full
  local drive; drive=$(fresh sata)
  unshare --mount --fork bash -c "exec 3<> $drive; sleep 1000" &
  sleep 1
  refused "$drive"
}

W2-raw-device-of-loop() { # full
  local drive; drive=$(fresh sata)
  losetup --find "$drive"
  refused "$drive"
}

W2-exported-by-nvmet() { # quick
  local drive; drive=$(fresh sata)
  nvmet_exports "$drive"
  refused "$drive"
}

W2-partition-exported-by-nvmet() { # full
  local drive; drive=$(fresh sata)
  partitions "$drive" 40M 40M
  nvmet_exports "${drive}1"
  wipefs -qaf "$drive"
  refused "$drive"
}

W2-exported-as-iscsi-target-file() { # full
  local drive target=/sys/kernel/config/target/core/fileio_0/case; drive=$(fresh sata)
  modprobe target_core_mod target_core_file
  mkdir -p $target
  echo "fd_dev_name=$drive,fd_dev_size=4194304" > $target/control
  echo 1 > $target/enable
  refused "$drive"
  rmdir $target
}

W2-exported-as-iscsi-target-block() { # full
  local drive target=/sys/kernel/config/target/core/iblock_0/case; drive=$(fresh sata)
  modprobe target_core_mod target_core_iblock
  mkdir -p $target
  echo "udev_path=$drive" > $target/control
  echo 1 > $target/enable
  refused "$drive"
  rmdir $target
}

W3-overlapping-mapping-of-a-mounted-filesystem() { # quick
  local drive; drive=$(fresh member1)
  mapped whole linear "$drive" 0
  dmsetup create inner --table "0 120000 linear $drive 80000"
  mounted /dev/mapper/inner
  refused /dev/mapper/whole
}

W3-same-blocks-below-another-mapping() { # full
  local drive; drive=$(fresh member1)
  mapped whole linear "$drive" 0
  mapped inner linear "$drive" 0
  encrypted /dev/mapper/inner
  mounted /dev/mapper/top
  refused /dev/mapper/whole
}

W3-mapping-beside-a-mounted-one() { # full
  local drive; drive=$(fresh member1)
  dmsetup create one --table "0 100000 linear $drive 0"
  dmsetup create two --table "0 100000 linear $drive 100000"
  mounted /dev/mapper/one
  runs /dev/mapper/two
}

W3-mapping-over-a-mounted-partition() { # full
  local drive; drive=$(fresh sata)
  partitions "$drive" 40M 40M
  dmsetup create whole --table "0 80000 linear $drive 2048" || { found 'the kernel itself forbids it'; return; }
  mounted "${drive}1" || { found 'the kernel itself forbids it'; return; }
  refused /dev/mapper/whole
}

W3-origin-of-a-mounted-snapshot() { # full
  group roomy
  lvcreate -qq -y -n origin -L 80M group
  mkfs.ext4 -q -E lazy_itable_init=0,lazy_journal_init=0 /dev/group/origin
  lvcreate -qq -y -n earlier -s -L 80M group/origin
  mkdir -p /mnt/fs; mount -o ro /dev/group/earlier /mnt/fs # or its own writes would be counted
  wipefs -qaf /dev/group/origin
  refused /dev/group/origin
}

W3-snapshot-of-a-mounted-origin() { # full
  group roomy
  lvcreate -qq -y -n origin -L 80M group
  mounted /dev/group/origin
  lvcreate -qq -y -n earlier -s -L 80M group/origin
  wipefs -qaf /dev/group/earlier
  test_it /dev/group/earlier
  umount /mnt/fs; e2fsck -fn /dev/group/origin
  found "expected the origin to be whole, got exit $code, and whole"
}

W4-second-path-to-a-mounted-lun() { # quick
  encrypted "$(fresh two-paths)" # nothing on the second path tells of a file system
  mounted /dev/mapper/top
  refused "$(at two-paths 2)"
}

W4-second-path-to-an-open-lun() { # full
  opened "$(fresh two-paths)" r+b
  refused "$(at two-paths 2)"
}

W4-second-path-while-a-test-runs-on-the-first() { # full
  local one; one=$(fresh two-paths)
  started "$one" 1h
  refused "$(at two-paths 2)"
  still_runs
}

W4-second-path-to-an-encrypted-nvme() { # full paths
  encrypted "$(fresh nvme-pair)"
  mounted /dev/mapper/top
  refused "$(at nvme-pair 2)"
}

W4-second-path-to-nvme-while-a-test-runs-on-the-first() { # full paths
  local one; one=$(fresh nvme-pair)
  started "$one" 1h
  refused "$(at nvme-pair 2)"
  still_runs
}

W4-nvmet-loopback-of-a-used-drive() { # full
  local drive; drive=$(fresh nvme)
  nvmet_exports "$drive"
  nvme connect --transport tcp --traddr 127.0.0.1 --trsvcid 4420 --nqn case
  refused "$drive"
}

W4-path-of-a-used-multipath() { # full
  local one two; one=$(fresh two-paths); two=$(at two-paths 2)
  multipath_of "$one" "$two"
  mounted /dev/mapper/top
  refused "$one"
}

W4-other-namespace-in-use() { # full
  mounted "$(fresh nvme)"
  runs "$(fresh nvme-4k)"
}
