# Whole quick reviews of every kind of device; all of a case run at once.

reviews-of-nvme-and-virtio() { # full 1200s
  reviewed "$(fresh nvme)" "$(fresh nvme-4k)" "$(fresh nvme-pair)" "$(fresh nvme-no-discard)" \
    "$(fresh virtio)" "$(fresh virtio-nameless)"
}

reviews-of-sata-and-scsi() { # full 1200s
  local drive; drive=$(fresh hdd)
  partitions "$drive" 90M
  reviewed "$(fresh sata)" "$(fresh scsi)" "$(fresh scsi-4k)" "$(fresh twin1)" "${drive}1"
}

reviews-of-usb-and-sd() { # full 1200s
  reviewed "$(fresh usb)" "$(fresh usb-nameless)" "$(fresh uas)" "$(fresh sd-card)"
}

reviews-of-mappings() { # full 1200s
  local one two; one=$(fresh member1); two=$(fresh member2)
  encrypted "$(fresh member3)"
  mapped line linear "$one" 0
  mapped late delay "$two" 0 1
  modprobe zram; echo 96M > /sys/block/zram0/disksize
  mounted "$(fresh roomy)"; truncate -s 96M /mnt/fs/file
  reviewed /dev/mapper/top /dev/mapper/line /dev/mapper/late /dev/zram0 \
    "$(losetup --find --show /mnt/fs/file)"
}

reviews-of-multipath() { # full 1200s
  local one two; one=$(fresh two-paths); two=$(at two-paths 2)
  multipath_of "$one" "$two"
  reviewed /dev/mapper/top "$(fresh nvme-pair)"
}

reviews-of-volumes() { # full 1200s
  group roomy member1 member2 member3
  lvcreate -qq -y -n line -L 64M group "$(at roomy)"
  lvcreate -qq -y -n striped -L 64M --stripes 2 group "$(at member1)" "$(at member2)"
  lvcreate -qq -y --type raid1 -m 1 --nosync -n twofold -L 48M group "$(at roomy)" "$(at member3)"
  lvcreate -qq -y --type thin -n thin -V 96M --thinpool pool -L 120M group "$(at roomy)"
  lvcreate -qq -y -n origin -L 64M group "$(at roomy)"
  lvcreate -qq -y -s -n copy -L 100M group/origin "$(at roomy)"
  reviewed /dev/group/line /dev/group/striped /dev/group/twofold /dev/group/thin /dev/group/copy
}

reviews-of-arrays() { # full 1200s
  array 5 member1 member2 member3
  reviewed /dev/md0
}
