//! Whether a drive could work: the first key that says something impossible, and why.

use writecliff_device::{Bytes, Nanos};

use crate::{
    Impossibility, LBA_SIZE, Levelling, MappingKind, SlcKind, SsdProfile, TrimKind, Victim,
};

/// Larger pages than any NAND has.
const PAGE_MAX: Bytes = Bytes::from_mib(1);
/// The largest unit that a page map may have.
const UNIT_MAX: Bytes = Bytes::from_mib(1);
/// More RAM than any drive has for user data.
const BUFFER_MAX: Bytes = Bytes::from_gib(16);

/// What a drive has less than it claims is whole blocks of those that are looked at.
const CLAIM_UNIT: Bytes = Bytes::from_kib(4);
/// No drive claims more than so many times what it has.
const CLAIMED_TIMES_MAX: u64 = 60_000;

/// Keys that decide how much NAND there is.
const SHAPE: [&str; 6] = [
    "nand.blocks_per_plane",
    "nand.pages_per_block",
    "nand.page_size",
    "nand.planes",
    "nand.dies_per_channel",
    "nand.channels",
];

/// Keys besides these that decide how much of it is spare area.
const SPARE: [&str; 5] = [
    "identity.capacity",
    "nand.blocks_reserved_per_plane",
    "nand.factory_bad_blocks",
    "slc_buffer.size",
    "parity.data",
];

impl SsdProfile {
    /// The first reason why such a drive could not work.
    pub fn impossibility(&self) -> Option<Impossibility> {
        let one = |(key, reason)| (vec![key], reason);
        self.impossible_count()
            .or_else(|| self.impossible_size())
            .or_else(|| self.impossible_rate())
            .or_else(|| self.impossible_time())
            .or_else(|| self.impossible_power())
            .or_else(|| self.impossible_option())
            .map(one)
            .or_else(|| self.security.impossibility())
            .or_else(|| self.impossible_space())
            .or_else(|| self.impossible_reserve())
            .or_else(|| self.impossible_policy())
    }

    fn impossible_count(&self) -> Option<(&'static str, String)> {
        let nand = &self.nand;
        let counts = [
            ("link.queue_depth", self.link.queue_depth, 1, 65_536),
            ("nand.channels", nand.channels, 1, 1024),
            ("nand.dies_per_channel", nand.dies_per_channel, 1, 1024),
            ("nand.planes", nand.planes, 1, 64),
            ("nand.blocks_per_plane", nand.blocks_per_plane, 1, 1 << 16),
            ("nand.pages_per_block", nand.pages_per_block, 1, 1 << 16),
            ("nand.factory_bad_blocks", nand.factory_bad_blocks, 0, 1 << 24),
            ("nand.blocks_reserved_per_plane", nand.blocks_reserved_per_plane, 0, 1 << 16),
            ("gc.quantum", self.gc.quantum, 1, 1 << 20),
            ("gc.choices", self.gc.choices, 1, 1 << 16),
            ("gc.window", self.gc.window, 1, 1 << 16),
            ("gc.generations", self.gc.generations, 1, 2),
            ("parity.data", self.parity.data, 0, 1024),
            ("reduction.stored_percent_min", self.reduction.stored_percent_min, 0, 100),
            ("trim.share_percent", self.trim.share_percent, 0, 100),
            ("wear.endurance", self.wear.endurance, 0, 10_000_000),
            ("wear.static_every", self.wear.static_every.unwrap_or(2), 2, 1 << 16),
            ("wear.spread_percent", self.wear.spread_percent, 0, 100),
            ("wear.retries_worn", self.wear.retries_worn, 0, 1000),
            ("wear.retries_aged", self.wear.retries_aged, 0, 1000),
            ("slc_buffer.drain_quantum", self.slc_buffer.drain_quantum, 0, 1 << 20),
        ];
        counts.into_iter().find_map(|(key, value, least, most)| {
            (value < least || value > most)
                .then(|| (key, format!("{value} is not between {least} and {most}")))
        })
    }

    fn impossible_size(&self) -> Option<(&'static str, String)> {
        let (unit, page) = (self.mapping.unit, self.nand.page_size);
        if unit.0 == 0 || !unit.0.is_power_of_two() || !(LBA_SIZE..=UNIT_MAX).contains(&unit) {
            let (got, least, most) = (unit.exact(), LBA_SIZE.exact(), UNIT_MAX.exact());
            let reason = format!("{got} is not a power of two between {least} and {most}");
            return Some(("mapping.unit", reason));
        }
        if page.0 == 0 || page > PAGE_MAX {
            let reason = format!("{} is not between 1B and {}", page.exact(), PAGE_MAX.exact());
            return Some(("nand.page_size", reason));
        }
        let capacity = self.identity.capacity;
        if capacity.0 == 0 || !capacity.is_multiple_of(unit) {
            let reason = format!("{} is not a whole number of {}", capacity.exact(), unit.exact());
            return Some(("identity.capacity", reason));
        }
        let (size, program) = (self.write_buffer.size, self.program_size());
        if size.0 != 0 && (size < program * 2 || size > BUFFER_MAX) {
            let (got, least, most) = (size.exact(), (program * 2).exact(), BUFFER_MAX.exact());
            let reason =
                format!("{got} is neither none nor between two programs ({least}) and {most}");
            return Some(("write_buffer.size", reason));
        }
        let cache = &self.host_cache;
        if cache.size.0 != 0 && (cache.size < unit || cache.size > BUFFER_MAX * 4) {
            let reason = format!("{} is neither none nor at most 64GiB", cache.size.exact());
            return Some(("host_cache.size", reason));
        }
        if self.firmware.read_ahead > BUFFER_MAX {
            let reason = format!("{} is more than 16GiB", self.firmware.read_ahead.exact());
            return Some(("firmware.read_ahead", reason));
        }
        if cache.dirty > cache.size {
            let reason = format!("{} is more than the whole cache", cache.dirty.exact());
            return Some(("host_cache.dirty", reason));
        }
        None
    }

    fn impossible_rate(&self) -> Option<(&'static str, String)> {
        let rates = [
            ("link.read_throughput", Some(self.link.read_throughput)),
            ("link.write_throughput", Some(self.link.write_throughput)),
            ("nand.channel_throughput", Some(self.nand.channel_throughput)),
            ("power.throttled_throughput", self.power.throttled_throughput),
        ];
        rates.into_iter().find_map(|(key, rate)| {
            let rate = rate.filter(|rate| rate.0 < 1000)?;
            Some((key, format!("{} B/s is slower than any link", rate.0)))
        })
    }

    fn impossible_time(&self) -> Option<(&'static str, String)> {
        let (link, nand, slc) = (&self.link, &self.nand, &self.slc_buffer);
        let mut times = vec![
            ("link.command_time", link.command_time),
            ("firmware.read_time", self.firmware.read_time),
            ("firmware.write_time", self.firmware.write_time),
            ("firmware.read_latency", self.firmware.read_latency),
            ("firmware.write_latency", self.firmware.write_latency),
            ("firmware.page_time", self.firmware.page_time),
            ("firmware.copy_time", self.firmware.copy_time),
            ("mapping.cache_time", self.mapping.cache_time),
            ("nand.read_time", nand.read_time),
            ("nand.erase_time", nand.erase_time),
            ("nand.suspend_time", nand.suspend_time.unwrap_or_default()),
            ("nand.program_pulse_time", nand.program_pulse_time.unwrap_or_default()),
            ("nand.erase_pulse_time", nand.erase_pulse_time.unwrap_or_default()),
            ("slc_buffer.read_time", slc.read_time),
            ("slc_buffer.program_time", slc.program_time),
            ("slc_buffer.erase_time", slc.erase_time),
            ("trim.unit_time", self.trim.unit_time),
            ("host_cache.time", self.host_cache.time),
        ];
        times.extend(nand.program_time.0.iter().map(|time| ("nand.program_time", *time)));
        times.extend(link.sleep.iter().map(|state| ("link.sleep", state.exit_time)));
        let longest = Nanos::from_secs(10);
        times.into_iter().find_map(|(key, time)| {
            (time > longest).then(|| (key, format!("{} is longer than 10 s", time.exact())))
        })
    }

    fn impossible_power(&self) -> Option<(&'static str, String)> {
        let power = &self.power;
        let sleep = self.link.sleep.iter().map(|state| ("link.sleep", state.power.0));
        let powers = [("power.idle", power.idle.0), ("power.active", power.active.0)];
        let energies = [
            ("power.read", power.read.0),
            ("power.program", power.program.0),
            ("power.slc_program", power.slc_program.0),
            ("power.erase", power.erase.0),
            ("power.transfer", power.transfer.0),
        ];
        let degrees = [
            ("power.ambient", power.ambient.0),
            ("power.rise_per_watt", power.rise_per_watt.0),
            ("power.throttle_at", power.throttle_at.0),
        ];
        let most = |values: &[(&'static str, u64)], most: u64, what: &str| {
            let found = values.iter().find(|(_, value)| *value > most);
            found.map(|(key, _)| (*key, format!("more than {what}")))
        };
        most(&powers.into_iter().chain(sleep).collect::<Vec<_>>(), 1_000_000_000, "1000 W")
            .or_else(|| most(&energies, 1_000_000_000, "1 J"))
            .or_else(|| most(&degrees, 1_000_000, "1000 degrees"))
    }

    /// What single mechanisms need to make sense.
    fn impossible_option(&self) -> Option<(&'static str, String)> {
        let slc = &self.slc_buffer;
        if !(1..=4).contains(&self.nand.program_time.0.len()) {
            return Some(("nand.program_time", "a cell has one to four pages".to_owned()));
        }
        if slc.kind != SlcKind::None && !(2..=5).contains(&slc.bits_per_cell) {
            let reason = format!("{} is not between 2 and 5", slc.bits_per_cell);
            return Some(("slc_buffer.bits_per_cell", reason));
        }
        if slc.kind != SlcKind::None && slc.bits_per_cell > self.nand.pages_per_block {
            let reason = "a block has fewer pages than a cell has bits".to_owned();
            return Some(("slc_buffer.bits_per_cell", reason));
        }
        if slc.kind != SlcKind::None && slc.size.0 == 0 {
            return Some((
                "slc_buffer.size",
                "a buffer of no size; say kind = \"none\"".to_owned(),
            ));
        }
        if let Some(impossible) = self.impossible_wear() {
            return Some(impossible);
        }
        if !self.link.sleep.is_sorted_by_key(|state| state.after) {
            return Some(("link.sleep", "the states are not in the order of `after`".to_owned()));
        }
        if self.gc.separate_hot && !self.gc.separate_copies {
            let reason = "hot pages are not kept apart where copies go among them".to_owned();
            return Some(("gc.separate_hot", reason));
        }
        if self.gc.generations > 1 && !self.gc.separate_copies {
            let reason =
                "copies have no generations where they go among the host's pages".to_owned();
            return Some(("gc.generations", reason));
        }
        if slc.kind != SlcKind::None && !self.gc.separate_copies {
            let reason = "copies out of an SLC buffer need superblocks of their own".to_owned();
            return Some(("gc.separate_copies", reason));
        }
        if u64::from(self.parity.data)
            >= u64::from(self.nand.pages_per_block)
                * u64::from(self.nand.channels)
                * u64::from(self.nand.dies_per_channel)
        {
            let reason = format!(
                "a stripe of {} and its parity does not fit the programs of a superblock",
                self.parity.data,
            );
            return Some(("parity.data", reason));
        }
        if self.trim.kind == TrimKind::Partial && self.trim.share_percent == 100 {
            let reason = "all of it is not partial; say kind = \"immediate\"".to_owned();
            return Some(("trim.share_percent", reason));
        }
        if let Some(die) = self.faults.lost_die.filter(|die| *die >= self.dies()) {
            let reason = format!("die {die} of {}, counted from 0", self.dies());
            return Some(("faults.lost_die", reason));
        }
        if !self.faults.power_cuts.is_sorted() {
            return Some(("faults.power_cuts", "the moments are not in order".to_owned()));
        }
        if let Some(impossible) = self.impossible_claim() {
            return Some(impossible);
        }
        if let Some(cache) = self.mapping.cache
            && (cache < Bytes::from_kib(16) || self.mapping.kind == MappingKind::Block)
        {
            let reason = format!("{} is less than 16KiB, or the map is no page map", cache.exact());
            return Some(("mapping.cache", reason));
        }
        if self.mapping.cache_time > Nanos::ZERO && self.mapping.cache.is_none() {
            let reason = "mapping.cache is missing, the RAM that takes so long".to_owned();
            return Some(("mapping.cache_time", reason));
        }
        let heat = &self.power;
        if heat.ambient.0 != 0 && heat.time_constant < Nanos::from_secs(1) {
            let reason = format!("{} is shorter than 1s", heat.time_constant.exact());
            return Some(("power.time_constant", reason));
        }
        if heat.throttle_at.0 != 0 && heat.throttled_throughput.is_none() {
            let reason = "power.throttled_throughput is missing, the rate above this".to_owned();
            return Some(("power.throttle_at", reason));
        }
        None
    }

    /// A drive has at least a part of what it claims.
    fn impossible_claim(&self) -> Option<(&'static str, String)> {
        let (real, claimed) = (self.faults.real_capacity?, self.identity.capacity);
        let unit = self.mapping.unit.max(CLAIM_UNIT);
        let least = unit.0.max(claimed.0 / CLAIMED_TIMES_MAX);
        let reason = match (real.is_multiple_of(unit), (least..=claimed.0).contains(&real.0)) {
            (true, true) => return None,
            (false, _) => format!("{} is not a whole number of {}", real.exact(), unit.exact()),
            _ => format!("{} is not between {least} bytes and the capacity", real.exact()),
        };
        Some(("faults.real_capacity", reason))
    }

    fn impossible_wear(&self) -> Option<(&'static str, String)> {
        let wear = &self.wear;
        if wear.retries_aged > 0 && wear.retry_age == Nanos::ZERO {
            let reason = "the age of data at which reads are repeated so often is missing";
            return Some(("wear.retries_aged", format!("{reason}: wear.retry_age")));
        }
        if wear.retries_worn > 0 && wear.endurance == 0 {
            let reason = "wear.endurance is missing, the erases after which that is so".to_owned();
            return Some(("wear.retries_worn", reason));
        }
        if wear.levelling == Levelling::Static && wear.static_gap == 0 {
            let reason = "wear.static_gap is missing, in erases".to_owned();
            return Some(("wear.levelling", reason));
        }
        let of_static = [
            ("wear.static_every", wear.static_every.is_some()),
            ("wear.static_apart", wear.static_apart),
        ];
        let is_there = |(key, is_there): (&'static str, bool)| is_there.then_some(key);
        if let (Levelling::None | Levelling::Dynamic, Some(key)) =
            (wear.levelling, of_static.into_iter().find_map(is_there))
        {
            return Some((key, "only levelling = \"static\" moves what rests".to_owned()));
        }
        let has_one_stream = self.gc.generations == 1 && !self.gc.separate_hot;
        if wear.static_apart && !(self.gc.separate_copies && has_one_stream) {
            let reason = "what is moved for wear is apart only from copies that have superblocks of their own, of one \
                          generation, and none for hot pages";
            return Some(("wear.static_apart", reason.to_owned()));
        }
        if self.power.throttle_at.0 != 0 && self.power.ambient.0 == 0 {
            let reason = "power.ambient is missing: without it there is no temperature".to_owned();
            return Some(("power.throttle_at", reason));
        }
        None
    }

    /// What must hold between several keys, so that every page finds a place.
    fn impossible_space(&self) -> Option<Impossibility> {
        let unit = self.mapping.unit;
        let nand = &self.nand;
        if !nand.page_size.is_multiple_of(unit) {
            let (page, unit) = (nand.page_size.exact(), unit.exact());
            let reason = format!("a page of {page} is not a multiple of the mapping unit, {unit}");
            return Some((vec!["nand.page_size", "mapping.unit"], reason));
        }
        let dies = u64::from(nand.channels) * u64::from(nand.dies_per_channel);
        if dies * u64::from(nand.pages_per_block) > 1 << 31 {
            let reason =
                format!("{dies} dies of so many pages are more than a superblock can have");
            return Some((SHAPE.to_vec(), reason));
        }
        let superblock = self.superblock_size();
        let raw = u128::from(superblock.0) * u128::from(self.nand.blocks_per_plane);
        // Addresses are superblock × 2^n + slot, where 2^n is the next power of two.
        let addresses = u128::from((superblock.0 / unit.0).next_power_of_two())
            * u128::from(self.nand.blocks_per_plane + 1);
        if raw > 1 << 60 || addresses > u128::from(u32::MAX) {
            let reason = format!(
                "superblocks of {} pages of {} are {addresses} places, more than the 2^32 that a \
                 map of 32-bit entries can name",
                superblock.0 / unit.0,
                unit.exact()
            );
            return Some((SHAPE.to_vec(), reason));
        }
        match self.mapping.kind {
            MappingKind::Page => self.impossible_spare(),
            MappingKind::Block => self.impossible_log(),
        }
    }

    fn impossible_spare(&self) -> Option<Impossibility> {
        let (capacity, superblock) = (self.identity.capacity, self.superblock_data());
        let spare = self.superblocks_spare_min();
        let least = u128::from(capacity.0) + u128::from(superblock.0) * u128::from(spare);
        if u128::from(self.usable_capacity().0) >= least {
            return None;
        }
        let reason = format!(
            "{} of NAND less reserved and bad blocks, parity and SLC buffer leave {} for {} of \
             user data; garbage collection needs {spare} superblocks of {} more than that",
            self.raw_capacity(),
            self.usable_capacity(),
            capacity,
            superblock.exact(),
        );
        Some(([&SPARE[..], &SHAPE].concat(), reason))
    }

    fn impossible_log(&self) -> Option<Impossibility> {
        let data = self.identity.capacity.0.div_ceil(self.superblock_size().0.max(1));
        let free = u64::from(self.superblocks()).saturating_sub(data);
        let log = u64::from(self.mapping.log_blocks);
        if log >= 1 && free >= log + 2 {
            return None;
        }
        let reason = format!(
            "{data} superblocks hold the user data and leave {free}; a block map needs at least \
             one log block and two superblocks more to merge them in",
        );
        let mut keys = vec!["mapping.log_blocks", "mapping.kind", "identity.capacity"];
        keys.extend(SHAPE);
        Some((keys, reason))
    }

    /// What collection keeps free, and the dies it uses, must be there. What a profile inherits may be too much for
    /// what it changes, and that is to blame then.
    fn impossible_reserve(&self) -> Option<Impossibility> {
        if self.mapping.kind == MappingKind::Block {
            return None;
        }
        let spare = self.usable_capacity().0 - self.identity.capacity.0;
        let open = u64::from(self.superblocks_spare_min()) - 2;
        let most = spare / self.superblock_data().0 - open;
        let (gc, slc, dies) = (&self.gc, &self.slc_buffer, u64::from(self.dies()));
        let is_free = "superblocks free in its spare area, beside the open ones";
        let (space, array) = ([&SPARE[..], &SHAPE].concat(), SHAPE[4..].to_vec());
        let counts = [
            ("gc.free_low", gc.free_low, 2, most, is_free, &space),
            ("gc.free_high", gc.free_high, gc.free_low, most, is_free, &space),
            ("gc.idle_free", gc.idle_free, 0, most, is_free, &space),
            ("gc.copy_dies", gc.copy_dies, 0, dies, "dies", &array),
            ("slc_buffer.drain_dies", slc.drain_dies, 0, dies, "dies", &array),
        ];
        counts.into_iter().find_map(|(key, value, least, most, what, of)| {
            if value < least {
                let keys = if key == "gc.free_high" { vec![key, "gc.free_low"] } else { vec![key] };
                return Some((keys, format!("{key} = {value}, and the least is {least}")));
            }
            (u64::from(value) > most).then(|| {
                let reason = format!("{key} = {value}, and it has {most} {what}");
                ([&[key], &of[..]].concat(), reason)
            })
        })
    }

    /// Where one key asks for another, the one that a profile changes is to blame.
    fn impossible_policy(&self) -> Option<Impossibility> {
        if self.mapping.kind == MappingKind::Block {
            return None;
        }
        let (low, high) = (self.gc.free_low, self.gc.free_high);
        if self.gc.pacing.is_proportional() && high == low {
            let reason = "proportional and smooth pacing need room between free_low and free_high"
                .to_owned();
            return Some((vec!["gc.free_high", "gc.free_low", "gc.pacing"], reason));
        }
        if let Some(start) = self.gc.free_start
            && (start < 2 || start >= high || !self.gc.pacing.is_proportional())
        {
            let reason = format!(
                "{start} free superblocks is not between 2 and free_high, or pacing is neither \
                 proportional nor smooth"
            );
            return Some((vec!["gc.free_start", "gc.free_high", "gc.pacing"], reason));
        }
        if let Some(copies) = self.gc.copies_max
            && (copies == 0 || !self.gc.pacing.is_proportional())
        {
            let reason =
                format!("{copies} pages is none, or pacing is neither proportional nor smooth");
            return Some((vec!["gc.copies_max", "gc.pacing"], reason));
        }
        if let Some(percent) = self.gc.urgent_percent
            && (percent == 0
                || percent > 100
                || self.gc.copies_max.is_none()
                || self.firmware.copy_time == Nanos::ZERO
                || self.gc.batch > 1)
        {
            let reason = format!(
                "{percent} is not a share from 1 to 100 percent, or gc.copies_max or firmware.copy_time, whose \
                 time the host is held for, is not there, or copies are made in batches"
            );
            let keys = vec!["gc.urgent_percent", "gc.copies_max", "firmware.copy_time", "gc.batch"];
            return Some((keys, reason));
        }
        if self.gc.batch == 0 || (self.gc.batch > 1 && self.firmware.copy_time == Nanos::ZERO) {
            let reason =
                "a batch is at least one page, and of more than one what holds the host up is \
                          firmware.copy_time, which is zero"
                    .to_owned();
            return Some((vec!["gc.batch", "firmware.copy_time"], reason));
        }
        if self.gc.choices > 1 && self.gc.victim != Victim::Random {
            let reason = "only victim = \"random\" has a number of choices".to_owned();
            return Some((vec!["gc.choices"], reason));
        }
        if self.gc.window > 1 && self.gc.victim != Victim::Windowed {
            let reason = "only victim = \"windowed\" has a window".to_owned();
            return Some((vec!["gc.window"], reason));
        }
        None
    }
}
