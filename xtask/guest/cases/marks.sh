# Old contents: refused, then what the refusal advises is done to the letter, then accepted.

W13-ext4() { # full
  made mkfs.ext4 -q -F
}

W13-xfs() { # full
  made mkfs.xfs -q -f
}

W13-btrfs() { # full
  made mkfs.btrfs -q -f
}

W13-f2fs() { # full
  made mkfs.f2fs -q -f
}

W13-ntfs() { # full
  made mkntfs -q -Q -F
}

W13-fat32() { # full
  made mkfs.fat -F 32
}

W13-exfat() { # full
  made mkfs.exfat
}

W13-udf() { # full
  made mkudffs
}

W13-nilfs2() { # full
  made mkfs.nilfs2 -q -f
}

W13-jfs() { # full
  made mkfs.jfs -q
}

W13-reiserfs() { # full
  made mkfs.reiserfs -q -f -f
}

W13-squashfs() { # full
  squashed() { mksquashfs /etc "$1" -quiet -noappend; }
  made squashed
}

W13-swap() { # full
  made mkswap -q
}

W13-luks1() { # full
  luks1() { head -c 32 /dev/zero | cryptsetup luksFormat --type luks1 --pbkdf-force-iterations 1000 -q "$1" -; }
  made luks1
}

W13-luks2() { # full
  luks2() {
    head -c 32 /dev/zero | cryptsetup luksFormat --type luks2 --pbkdf pbkdf2 \
      --pbkdf-force-iterations 1000 -q "$1" -
  }
  made luks2
}

W13-lvm() { # full
  made pvcreate -qq -y -ff
}

W13-md-0.90() { # full
  raided 0.90
}

W13-md-1.0() { # full
  raided 1.0
}

W13-md-1.2() { # full
  raided 1.2
}

W13-gpt() { # full
  parted_out() { partitions "$1" 40M 40M; }
  made parted_out
}

W13-mbr() { # full
  dos() { echo 'size=40M' | sfdisk --quiet --label dos "$1"; udevadm settle; }
  made dos
}

W13-sun-label() { # full
  sun() { sfdisk --quiet --label sun "$1" <<< 'size=40M'; udevadm settle; }
  made sun
}

W13-sgi-label() { # full
  sgi() { sfdisk --quiet --label sgi "$1" <<< 'size=40M'; udevadm settle; }
  made sgi
}

W13-gpt-with-a-filesystem-in-each-partition() { # full
  filled() {
    partitions "$1" 40M 200M
    mkfs.ext4 -q -F "$(part "$1" 1)"; mkfs.btrfs -q -f "$(part "$1" 2)"
  }
  made filled
}

W13-on-4096-byte-blocks() { # full
  local drive; drive=$(fresh nvme-4k)
  mkfs.btrfs -q -f -s 4096 "$drive" || mkfs.ext4 -q -F "$drive"
  erased_as_advised "$drive"
}
