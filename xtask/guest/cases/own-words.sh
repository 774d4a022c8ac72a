# What a drive says of itself is what the tools of its interface read from it.

# own_words DEVICE: what the tool reads from a drive, for `agree`.
own_words() {
  writecliff drives "$1" --json > /run/ours || wrong "drives $1 failed"
  grep -q '"facts"' /run/ours || wrong "$1 says nothing: $(grep facts_missing /run/ours)"
}

# agree PYTHON: whether these (NAME, OURS, THEIRS) are equal, `ours` being the facts and `theirs(NAME)` a tool's JSON.
agree() {
  python3 -c "
import json
load = lambda path: json.load(open(path))
drive = load('/run/ours')['devices'][0]
ours, theirs = drive['facts'], lambda name: load('/run/' + name)
for ask, a, b in [$1]:
    if a != b: raise SystemExit(f'{ask}: {a!r} instead of {b!r}')
" 2> /run/differs || wrong "$(tail -n 1 /run/differs)"
}

own-words-of-nvme-are-those-of-nvme-cli() { # quick
  local device; device=$(at nvme-4k)
  own_words "$device"
  nvme id-ctrl "$device" -o json > /run/controller
  nvme id-ns "$device" -o json > /run/namespace
  nvme smart-log "$device" -o json > /run/health
  agree "
    ('model', ours['model'], theirs('controller')['mn'].strip()),
    ('serial', ours['serial'], theirs('controller')['sn'].strip()),
    ('firmware', ours['firmware'], theirs('controller')['fr'].strip()),
    ('warning', ours['warning_c'], (theirs('controller')['wctemp'] or 273) - 273 or None),
    ('critical', ours['critical_c'], (theirs('controller')['cctemp'] or 273) - 273 or None),
    ('power states', len(ours['power_states']), theirs('controller')['npss'] + 1),
    ('formats', [(f['data_bytes'], f['metadata_bytes']) for f in ours['formats']],
      [(1 << f['ds'], f['ms']) for f in theirs('namespace')['lbafs']][:theirs('namespace')['nlbaf'] + 1]),
    ('capacity', ours['capacity_bytes'], theirs('namespace')['nsze'] * 4096),
    ('temperature', ours['health']['temperature_c'], theirs('health')['temperature'] - 273),
    ('spare', ours['health']['spare_percent'], theirs('health')['avail_spare']),
    ('used', ours['health']['used_percent'], theirs('health')['percent_used']),
    ('hours', ours['health']['power_on_hours'], int(theirs('health')['power_on_hours'])),
    ('cycles', ours['health']['power_cycles'], int(theirs('health')['power_cycles'])),
    ('unsafe', ours['health']['unsafe_shutdowns'], int(theirs('health')['unsafe_shutdowns'])),
    ('errors', ours['health']['media_errors'], int(theirs('health')['media_errors'])),
    ('written', ours['health']['host_written_bytes'], int(theirs('health')['data_units_written']) * 512000),
  "
}

own-words-count-what-is-written-to-nvme() { # full
  local device; device=$(fresh nvme)
  own_words "$device"; cp /run/ours /run/before
  dd if=/dev/urandom of="$device" bs=1M count=64 oflag=direct 2> /run/dd
  own_words "$device"
  agree "('counted', ours['health']['host_written_bytes'] >= 64000000 +
    theirs('before')['devices'][0]['facts']['health']['host_written_bytes'], True)"
}

own-words-of-sata-are-those-of-smartctl() { # quick
  local device; device=$(at sata)
  own_words "$device"
  smartctl -j -a "$device" > /run/smart || :
  agree "
    ('model', ours['model'], theirs('smart')['model_name']),
    ('serial', ours['serial'], theirs('smart')['serial_number']),
    ('firmware', ours['firmware'], theirs('smart')['firmware_version']),
    ('capacity', ours['capacity_bytes'], theirs('smart')['user_capacity']['bytes']),
    ('hours', ours['health']['power_on_hours'], theirs('smart')['power_on_time']['hours']),
    ('cycles', ours['health']['power_cycles'], theirs('smart')['power_cycle_count']),
  "
  hdparm -I "$device" > /run/hdparm 2>&1
  grep -q "$(python3 -c "import json; print(json.load(open('/run/ours'))['devices'][0]['facts']['serial'])")" \
    /run/hdparm || wrong "hdparm knows another serial number"
}

own-words-of-a-drive-in-use-are-read() { # full
  local device; device=$(fresh nvme)
  mkfs.ext4 -q "$device"; mount "$device" /mnt
  own_words "$device"
  agree "('speaks', ours['speaks'][:4], 'NVMe'), ('refused', drive['may_be_tested'], False)"
}

own-words-of-nvme-setup-are-those-of-nvme-cli() { # full
  local device; device=$(at nvme-4k)
  own_words "$device"
  nvme fw-log "$device" -o json > /run/slots
  nvme smart-log "$device" -o json > /run/health
  agree "
    ('slot', (ours['firmware_slots'] or {'active': 0})['active'],
      list(theirs('slots').values())[0]['Active Firmware Slot (afi)'] & 7),
    ('errors', ours['health']['logged_errors'], int(theirs('health')['num_err_log_entries'])),
    ('remembered', all(e['count'] <= ours['health']['logged_errors'] for e in ours['errors']), True),
    ('state', ours['power_state_now'] in (None, *range(len(ours['power_states']))), True),
  "
}

own-words-of-scsi-are-those-of-sg3-utils() { # quick
  local device; device=$(at scsi)
  own_words "$device"
  smartctl -j -i "$device" > /run/smart || :
  sg_inq "$device" > /run/inquiry
  agree "
    ('speaks', ours['speaks'], '$(grep -o 'SPC-[0-9]' /run/inquiry | head -n 1)'),
    ('vendor', ours['model'].startswith(theirs('smart')['scsi_vendor'].strip()), True),
    ('product', ours['model'].endswith(theirs('smart')['scsi_product'].strip()), True),
    ('revision', ours['firmware'], theirs('smart')['scsi_revision'].strip()),
    ('serial', ours['serial'], theirs('smart')['serial_number'].strip()),
    ('capacity', ours['capacity_bytes'], theirs('smart')['user_capacity']['bytes']),
    ('LBAs', [f['data_bytes'] for f in ours['formats']], [theirs('smart')['logical_block_size']]),
  "
  local serial; serial=$(python3 -c "
import json; print(json.load(open('/run/ours'))['devices'][0]['facts']['serial'])")
  grep -q "Unit serial number: *$serial" /run/inquiry || wrong "sg_inq knows another serial number"
  # The caching mode page, and whether unmapping is possible, as the kernel and sg3-utils have them.
  local discard cache=False
  grep -q 'write back' "/sys/block/${device##*/}"/device/scsi_disk/*/cache_type && cache=True
  sg_vpd -p lbpv "$device" > /run/provisioning 2>&1 || :
  grep -q 'LBPU): 1\|LBPWS): 1' /run/provisioning && discard=True || discard=False
  agree "
    ('discard', 'discard' in [p['kind'] for p in ours['purges']], $discard),
    ('write cache', ours['write_cache']['enabled'], $cache),
  "
}

own-words-of-scsi-with-4096-byte-blocks() { # full
  local device; device=$(at scsi-4k)
  own_words "$device"
  sg_readcap -l "$device" | grep -q 'Logical block length=4096' || wrong "sg_readcap sees other LBAs"
  agree "
    ('capacity', ours['capacity_bytes'], $(blockdev --getsize64 "$device")),
    ('LBAs', [(f['data_bytes'], f['metadata_bytes']) for f in ours['formats']], [(4096, 0)]),
  "
}

# No disk behind a USB bridge is asked, whatever it would answer, nor one of virtio.
own-words-are-not-asked-of-what-has-none() { # full
  local name device
  for name in uas usb virtio; do
    device=$(at "$name")
    writecliff drives "$device" --json > /run/ours
    grep -q '"facts_missing": "it takes no commands of NVMe, ATA or SCSI"' /run/ours ||
      wrong "$name: $(cat /run/ours)"
  done
}
