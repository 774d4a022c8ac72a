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

own-words-of-a-drive-in-use-are-read() { # quick
  local device; device=$(fresh nvme)
  mkfs.ext4 -q "$device"; mount "$device" /mnt
  own_words "$device"
  agree "('speaks', ours['speaks'][:4], 'NVMe'), ('refused', drive['may_be_tested'], False)"
}

own-words-are-not-asked-of-what-has-none() { # full
  local device; device=$(at scsi)
  writecliff drives "$device" --json > /run/ours
  grep -q '"facts_missing": "it takes no commands of NVMe or ATA"' /run/ours || wrong "$(cat /run/ours)"
}
