# Devices made of drives: W1 was that every I/O failed on most of them, after they had been wiped.

W1-dm-linear() { # full
  mapped top linear "$(fresh member1)" 0
  runs /dev/mapper/top
}

W1-dm-delay() { # full
  mapped top delay "$(fresh member1)" 0 1
  runs /dev/mapper/top
}

W1-dm-flakey() { # full
  mapped top flakey "$(fresh member1)" 0 3600 0
  runs /dev/mapper/top
}

W1-dm-mirror() { # full
  local one two; one=$(fresh member1); two=$(fresh member2)
  dmsetup create top --table "0 131072 mirror core 2 1024 nosync 2 $one 0 $two 0"
  runs /dev/mapper/top
}

W1-dm-multipath() { # full
  local one two; one=$(fresh two-paths); two=$(at two-paths 2)
  multipath_of "$one" "$two"
  runs /dev/mapper/top
}

W1-dm-crypt() { # full
  encrypted "$(fresh member1)"
  runs /dev/mapper/top
}

W1-lvm-linear() { # full
  group member1
  lvcreate -qq -y -n top -L 64M group
  runs /dev/group/top
}

W1-lvm-linear-beside-a-mounted-volume() { # full
  group member1
  lvcreate -qq -y -n other -L 24M group; lvcreate -qq -y -n top -L 64M group
  mounted /dev/group/other
  runs /dev/group/top
}

W1-lvm-striped() { # full
  group member1 member2
  lvcreate -qq -y -n top -L 96M --stripes 2 group
  runs /dev/group/top
}

W1-lvm-raid1() { # full
  group member1 member2
  lvcreate -qq -y -n top -L 64M --type raid1 -m 1 --nosync group
  runs /dev/group/top
}

W1-lvm-mirror() { # full
  group member1 member2 member3
  lvcreate -qq -y -n top -L 64M --type mirror -m 1 --nosync group
  runs /dev/group/top
}

W1-lvm-thin() { # full
  group roomy
  lvcreate -qq -y --type thin -n top -V 96M --thinpool pool -L 200M group
  runs /dev/group/top
}

W1-lvm-snapshot() { # full
  group roomy
  lvcreate -qq -y -n origin -L 80M group
  lvcreate -qq -y -n top -s -L 120M group/origin
  runs /dev/group/top
}

W1-lvm-cache() { # full
  group roomy member1
  lvcreate -qq -y -n top -L 96M group "$(at roomy)"
  lvcreate -qq -y --type cache-pool -n fast -L 40M group "$(at member1)"
  lvconvert -qq -y --type cache --cachepool group/fast group/top
  runs /dev/group/top
}

W1-md-raid0() { # full
  array 0 member1 member2
  runs /dev/md0
}

W1-md-raid1() { # quick
  array 1 member1 member2
  runs /dev/md0
}

W1-md-raid5() { # full
  array 5 member1 member2 member3
  runs /dev/md0
}

W1-crypt-on-lvm-on-md() { # full
  array 1 member1 member2
  pvcreate -qq -y -ff /dev/md0; vgcreate -qq -y group /dev/md0
  lvcreate -qq -y -n volume -L 64M group
  encrypted /dev/group/volume
  runs /dev/mapper/top
}

W1-bcache() { # full
  local cache backing; cache=$(fresh member1); backing=$(fresh member2)
  modprobe bcache
  make-bcache --writeback -B "$backing" -C "$cache"
  for member in "$cache" "$backing"; do echo "$member" > /sys/fs/bcache/register || :; done
  await /dev/bcache0
  runs /dev/bcache0
}

W1-zram() { # full
  modprobe zram
  echo 96M > /sys/block/zram0/disksize
  await /dev/zram0
  runs /dev/zram0
}

W1-loop() { # full
  mounted "$(fresh roomy)"
  truncate -s 96M /mnt/fs/file
  runs "$(losetup --find --show /mnt/fs/file)"
}
