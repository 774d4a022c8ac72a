# What is written for other systems, they take.

cost-models-are-taken-by-the-kernel-and-by-udev() { # full
  local device number kind line
  device=$(at nvme-4k)
  number=$(stat -Lc %Hr:%Lr "$device")
  writecliff model sim:tiny --quick --no-bench --quiet --out /run/model > /run/iocost
  mkdir -p /run/cgroup
  mount -t cgroup2 none /run/cgroup
  for kind in model qos; do
    line=$(grep -A 1 "/io.cost.$kind\$" /run/iocost | tail -n 1)
    echo "${line/MAJ:MIN/$number}" > "/run/cgroup/io.cost.$kind" || wrong "the kernel refuses '$line'"
    has_each "$(grep "^$number " "/run/cgroup/io.cost.$kind")" "${line#MAJ:MIN }"
  done
  writecliff model /run/model --format hwdb > /etc/udev/hwdb.d/91-model.hwdb
  systemd-hwdb update
  has_each "$(systemd-hwdb query 'block::name:SIMULATED Tiny:fwrev:1.0:')" \
    "IOCOST_SOLUTIONS=writecliff $(sed -n 's/^ *IOCOST_QOS_WRITECLIFF=//p' /etc/udev/hwdb.d/91-model.hwdb)"
  rm /etc/udev/hwdb.d/91-model.hwdb
  systemd-hwdb update
  umount /run/cgroup
  found 'both taken, and given back'
}

# has_each TEXT WORDS: whether each of the words is in the text.
has_each() {
  local word
  for word in $2; do
    [[ $1 == *"$word"* ]] || wrong "no $word in '$1'"
  done
}
