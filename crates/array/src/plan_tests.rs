use super::*;

const CHUNK: u64 = 64 << 10;
const KIB: u64 = 1 << 10;

/// Members of which some are missing, and some are busy.
#[derive(Default)]
struct All {
    missing: Vec<usize>,
    /// A member that is there up to a byte.
    up_to: Option<(usize, u64)>,
    loads: Vec<usize>,
}

impl View for All {
    fn is_missing(&self, member: usize, at: u64) -> bool {
        let is_later = self.up_to.is_some_and(|(new, end)| new == member && at >= end);
        self.missing.contains(&member) || is_later
    }

    fn end_of_present(&self, member: usize, range: &Range<u64>) -> u64 {
        match self.up_to {
            _ if self.missing.contains(&member) => range.start,
            Some((new, end)) if new == member => end.clamp(range.start, range.end),
            _ => range.end,
        }
    }

    fn load(&self, member: usize) -> usize {
        self.loads.get(member).copied().unwrap_or(0)
    }
}

fn without(missing: &[usize]) -> All {
    All { missing: missing.to_owned(), ..All::default() }
}

fn of_parity(members: usize, parities: usize) -> Layout {
    Layout::new((members - parities, 1, parities), CHUNK, CHUNK * 100)
}

fn write(offset: u64, length: u64) -> Io {
    Io::write(Bytes(offset), Bytes(length))
}

fn read_io(offset: u64, length: u64) -> Io {
    Io::read(Bytes(offset), Bytes(length))
}

/// Members with the range in KiB, of each of these.
fn told(pieces: &[Piece]) -> Vec<(usize, u64, u64)> {
    let of = |piece: &Piece| {
        (piece.member, piece.range.start / KIB, (piece.range.end - piece.range.start) / KIB)
    };
    pieces.iter().map(of).collect()
}

/// Reads, writes at once, writes behind the reads.
fn counts(layout: &Layout, io: &Io, view: &All) -> (usize, usize, usize) {
    let plan = plan(layout, io, view).unwrap();
    (plan.reads.len(), plan.at_once.len(), plan.after.len())
}

#[test]
fn a_small_write_reads_and_writes_data_and_parity() {
    let all = All::default();
    // RAID-5 of five: two reads, two writes.
    let small = plan(&of_parity(5, 1), &write(0, 4 * KIB), &all).unwrap();
    assert_eq!(told(&small.reads), [(0, 0, 4), (4, 0, 4)]);
    assert_eq!(told(&small.after), [(0, 0, 4), (4, 0, 4)]);
    // RAID-5 of four: as many to read by the other way, which md prefers then; of three fewer.
    let of_four = plan(&of_parity(4, 1), &write(0, 4 * KIB), &all).unwrap();
    assert_eq!(told(&of_four.reads), [(1, 0, 4), (2, 0, 4)]);
    assert_eq!(counts(&of_parity(3, 1), &write(0, 4 * KIB), &all), (1, 0, 2));
    // RAID-6 of six and more: three and three; of four fewer.
    for members in [6, 8, 12] {
        assert_eq!(counts(&of_parity(members, 2), &write(0, 4 * KIB), &all), (3, 0, 3));
    }
    assert_eq!(counts(&of_parity(4, 2), &write(0, 4 * KIB), &all), (1, 0, 3));
    // A code of eight and three: four and four.
    assert_eq!(counts(&of_parity(11, 3), &write(0, 4 * KIB), &all), (4, 0, 4));
}

#[test]
fn full_stripes_read_nothing_and_neighbours_are_one_piece() {
    let layout = of_parity(4, 1);
    let (all, stripe) = (All::default(), layout.stripe());
    let five = plan(&layout, &write(stripe, 5 * stripe), &all).unwrap();
    assert_eq!((five.reads.len(), five.after.len()), (0, 0));
    let mut pieces = told(&five.at_once);
    pieces.sort_unstable();
    assert_eq!(pieces, [(0, 64, 320), (1, 64, 320), (2, 64, 320), (3, 64, 320)]);
}

#[test]
fn rows_of_which_other_columns_are_written_are_decided_apart() {
    // From the middle of column 0 to a quarter of column 1 of three: rows of which either alone is
    // written, and none of which both are.
    let layout = of_parity(4, 1);
    let io = write(CHUNK / 2, CHUNK / 2 + CHUNK / 4);
    let apart = plan(&layout, &io, &All::default()).unwrap();
    // Rows 0..16 write column 1, rows 32..64 column 0; each reads the two others.
    assert_eq!(told(&apart.reads), [(0, 0, 16), (2, 0, 16), (1, 32, 32), (2, 32, 32)]);
    assert_eq!(told(&apart.after), [(1, 0, 16), (3, 0, 16), (0, 32, 32), (3, 32, 32)]);
}

#[test]
fn parity_is_of_whole_pages() {
    let layout = of_parity(5, 1);
    let odd = plan(&layout, &write(512, 512), &All::default()).unwrap();
    assert_eq!((told(&odd.reads), told(&odd.after)), {
        let page = vec![(0, 0, 4), (4, 0, 4)];
        (page.clone(), page)
    });
    // A whole stripe but for a sector reads the page that this is in, and nothing more.
    let all_but_one = plan(&layout, &write(512, layout.stripe() - 512), &All::default()).unwrap();
    assert_eq!(told(&all_but_one.reads), [(0, 0, 4)]);
    assert_eq!(all_but_one.at_once.len(), 5);
}

#[test]
fn reads_are_of_the_data_alone() {
    let layout = of_parity(4, 1);
    let stripe = layout.stripe();
    let two = plan(&layout, &read_io(0, 2 * stripe), &All::default()).unwrap();
    assert_eq!(told(&two.reads), [(0, 0, 128), (1, 0, 128), (2, 0, 64), (3, 64, 64)]);
    let one = plan(&layout, &read_io(512, 512), &All::default()).unwrap();
    assert_eq!(one.reads[0].range, 512..1024);
}

#[test]
fn a_degraded_read_reads_all_others() {
    for (members, parities) in [(4, 1), (5, 1), (8, 1), (6, 2)] {
        let layout = of_parity(members, parities);
        let target = layout.member_of(0, 1);
        let io = read_io(CHUNK, 4 * KIB);
        let reads = plan(&layout, &io, &without(&[target])).unwrap().reads;
        assert_eq!(reads.len(), layout.columns, "{members} with {parities}");
        assert!(reads.iter().all(|piece| piece.member != target));
        let beside = plan(&layout, &read_io(0, 4 * KIB), &without(&[target])).unwrap().reads;
        assert_eq!(beside.len(), 1, "what is there is read where it is");
    }
    let layout = of_parity(6, 2);
    let two = [layout.member_of(0, 0), layout.member_of(0, 1)];
    assert_eq!(counts(&layout, &read_io(0, CHUNK), &without(&two)), (4, 0, 0));
    let three = [two[0], two[1], layout.member_of(0, 2)];
    assert_eq!(plan(&layout, &read_io(0, CHUNK), &without(&three)), Err(Lost));
}

#[test]
fn a_degraded_write_goes_to_the_parity() {
    let layout = of_parity(5, 1);
    let (data, parity) = (layout.member_of(0, 0), layout.parity_of(0, 0));
    // Its own chunk is gone: the parity is computed of all others.
    let io = write(0, 4 * KIB);
    let gone = plan(&layout, &io, &without(&[data])).unwrap();
    assert_eq!((gone.reads.len(), told(&gone.after)), (3, vec![(parity, 0, 4)]));
    // The parity is gone: the data are written, and that is all.
    assert_eq!(counts(&layout, &io, &without(&[parity])), (0, 1, 0));
    // Another chunk is gone: only the change of the parity can be computed, of two reads.
    assert_eq!(counts(&layout, &io, &without(&[layout.member_of(0, 2)])), (2, 0, 2));
    // A part of a page of a chunk that is gone: it has to be computed first.
    let odd = plan(&layout, &write(0, 512), &without(&[data])).unwrap();
    assert_eq!((odd.reads.len(), odd.after.len()), (4, 1));
    assert_eq!(plan(&layout, &io, &without(&[data, parity])), Err(Lost));
}

#[test]
fn mirrors_write_all_and_read_the_idlest_first() {
    let layout = Layout::new((1, 3, 0), CHUNK, CHUNK * 100);
    let io = read_io(0, 4 * KIB);
    let member = |view: &All| plan(&layout, &io, view).unwrap().reads[0].member;
    assert_eq!(member(&All::default()), 0);
    assert_eq!(member(&All { loads: vec![2, 1, 1], ..All::default() }), 1);
    assert_eq!(member(&without(&[0])), 1);
    assert_eq!(counts(&layout, &write(0, 4 * KIB), &All::default()), (0, 3, 0));
    assert_eq!(plan(&layout, &io, &without(&[0, 1, 2])), Err(Lost));
    // One that is rebuilt gets what it has already, and is read from there alone.
    let half = || All { up_to: Some((0, 4 * KIB)), ..All::default() };
    let over = plan(&layout, &write(0, 8 * KIB), &half()).unwrap();
    assert_eq!(told(&over.at_once), [(0, 0, 4), (1, 0, 8), (2, 0, 8)]);
    assert_eq!(member(&half()), 0);
    assert_eq!(plan(&layout, &read_io(0, 8 * KIB), &half()).unwrap().reads[0].member, 1);
}

#[test]
fn striping_keeps_neighbours_on_a_member_together() {
    let layout = Layout::new((4, 1, 0), CHUNK, CHUNK * 100);
    let trim = Io::trim(Bytes(0), Bytes(layout.capacity()));
    let pieces = plan(&layout, &trim, &All::default()).unwrap().at_once;
    assert_eq!(told(&pieces), (0..4).map(|member| (member, 0, 6400)).collect::<Vec<_>>());
    let pairs = Layout::new((2, 2, 0), CHUNK, CHUNK * 100);
    let pieces = plan(&pairs, &write(CHUNK, CHUNK), &All::default()).unwrap().at_once;
    assert_eq!(told(&pieces), [(2, 0, 64), (3, 0, 64)]);
}

#[test]
fn a_rebuild_reads_as_many_as_there_are_columns() {
    for (members, parities) in [(4, 1), (6, 2), (7, 3)] {
        let layout = of_parity(members, parities);
        for target in 0..members {
            let step = CHUNK * 8..CHUNK * 16;
            let Plan { reads, at_once, after } =
                rebuild(&layout, target, &step, &without(&[target])).unwrap();
            let bytes: u64 = reads.iter().map(|piece| piece.range.end - piece.range.start).sum();
            assert_eq!(bytes, 8 * CHUNK * layout.columns as u64);
            assert!(reads.iter().all(|piece| piece.member != target));
            assert_eq!((told(&after), at_once.len()), (vec![(target, 512, 512)], 0));
        }
    }
}

/// What is written is read back, whatever is missing: data and parity as numbers, computed by the plans.
#[test]
fn any_write_reaches_every_member_that_has_its_rows() {
    let mut state = 7;
    let mut random = |below: u64| {
        state = writecliff_device::split_mix(state);
        state % below
    };
    for _ in 0..20_000 {
        let parities = 1 + random(3) as usize;
        let layout = of_parity(parities + 1 + random(6) as usize, parities);
        let missing: Vec<usize> = (0..random(parities as u64 + 1))
            .map(|_| random(layout.members() as u64) as usize)
            .collect();
        let offset = random(layout.stripe() * 4 / 512) * 512;
        let length = (1 + random(layout.stripe() * 2 / 512)) * 512;
        let io = write(offset, length);
        let plan = plan(&layout, &io, &without(&missing)).unwrap();
        let touched = |address: u64| {
            let place = layout.place(address);
            (layout.member_of(place.stripe, place.column), place.stripe * CHUNK + place.row)
        };
        let writes: Vec<&Piece> = plan.at_once.iter().chain(&plan.after).collect();
        let is_written = |member: usize, at: u64| {
            writes
                .iter()
                .filter(|piece| piece.member == member && piece.range.contains(&at))
                .count()
        };
        for _ in 0..20 {
            let address = offset + random(length);
            let (member, at) = touched(address);
            let expected = usize::from(!missing.contains(&member));
            assert_eq!(is_written(member, at), expected, "{io:?} {address}");
            let stripe = at / CHUNK;
            for nth in 0..parities {
                let parity = layout.parity_of(stripe, nth);
                let expected = usize::from(!missing.contains(&parity));
                assert_eq!(is_written(parity, at), expected, "parity of {io:?} {address}");
            }
        }
        let all = plan.reads.iter().chain(writes);
        assert!({ all }.all(|piece| {
            !missing.contains(&piece.member)
                && piece.range.end <= layout.used
                && piece.range.start < piece.range.end
        }));
    }
}
