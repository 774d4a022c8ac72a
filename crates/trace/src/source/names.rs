//! Streams: names to the small numbers that an operation carries.

use std::collections::HashMap;

use writecliff_device::printable;

use super::fields::Fields;
use crate::kernel::DeviceNumber;

/// The most streams that an operation can tell apart; the last of them is all others.
const STREAMS_MAX: usize = NOT_ASKED_FOR as usize;
/// The number of all streams that were not asked for, where one was.
pub(super) const NOT_ASKED_FOR: u16 = u16::MAX;
/// What the last stream is called if there are more.
const OTHERS: &str = "(others)";
/// How many names of streams that were not asked for are kept, to be suggested.
const SUGGESTIONS: usize = 20;

/// The names that were met, and the one that was asked for.
pub(super) struct Names {
    selected: Option<Vec<u8>>,
    /// The same, if it is a device's.
    selected_device: Option<DeviceNumber>,
    numbers: HashMap<Box<[u8]>, u16>,
    list: Vec<String>,
    /// The name asked for last, which is often the next one too.
    last: Option<(Vec<u8>, u16)>,
    suggestions: Vec<String>,
    is_full: bool,
}

impl Names {
    /// Knows all names, or only `selected`.
    pub(super) fn new(selected: Option<&str>) -> Self {
        Self {
            selected: selected.map(|name| name.as_bytes().to_vec()),
            selected_device: selected.and_then(device),
            numbers: HashMap::new(),
            list: Vec::new(),
            last: None,
            suggestions: Vec::new(),
            is_full: false,
        }
    }

    /// The number of a stream that has a queue of its own; `None` if another one was asked for.
    #[inline]
    pub(super) fn volume(&mut self, name: &[u8]) -> Option<u16> {
        Some(self.number(name)).filter(|number| *number != NOT_ASKED_FOR)
    }

    /// The stream's number; [`NOT_ASKED_FOR`] if it shares its queue with one that was.
    #[inline]
    pub(super) fn number(&mut self, name: &[u8]) -> u16 {
        let is_wanted = self.selected.as_ref().is_none_or(|selected| name == selected);
        self.number_if(is_wanted, name)
    }

    /// The number of a process's stream. All processes on a device are asked for by its name: then
    /// it is `None` for those on others.
    #[inline]
    pub(super) fn process(&mut self, name: &[u8], device: DeviceNumber) -> Option<u16> {
        if !self.wants(device) {
            self.suggest(name);
            return None;
        }
        let is_any = self.selected_device.is_some();
        let is_wanted = is_any || self.selected.as_ref().is_none_or(|selected| name == selected);
        Some(self.number_if(is_wanted, name))
    }

    /// Whether events of this device may concern a stream that was asked for.
    #[inline]
    pub(super) fn wants(&self, device: DeviceNumber) -> bool {
        self.selected_device.is_none_or(|selected| device == selected)
    }

    #[inline]
    fn number_if(&mut self, is_wanted: bool, name: &[u8]) -> u16 {
        match &self.last {
            Some((last, number)) if is_wanted && last == name => *number,
            _ if is_wanted => self.look_up(name),
            _ => {
                self.suggest(name);
                NOT_ASKED_FOR
            }
        }
    }

    fn look_up(&mut self, name: &[u8]) -> u16 {
        let number = match self.numbers.get(name) {
            Some(number) => *number,
            None => self.add(name),
        };
        match &mut self.last {
            Some((last, last_number)) => {
                last.clear();
                last.extend_from_slice(name);
                *last_number = number;
            }
            None => self.last = Some((name.to_vec(), number)),
        }
        number
    }

    fn add(&mut self, name: &[u8]) -> u16 {
        let number = self.list.len().min(STREAMS_MAX - 1);
        if self.list.len() < STREAMS_MAX - 1 {
            self.list.push(printable(&String::from_utf8_lossy(name)));
            self.numbers.insert(name.into(), number as u16);
        } else if !self.is_full {
            self.is_full = true;
            self.list.push(OTHERS.to_owned());
        }
        number as u16
    }

    fn suggest(&mut self, name: &[u8]) {
        let is_new = |name: &str| !self.suggestions.iter().any(|other| other == name);
        if self.suggestions.len() < SUGGESTIONS {
            let name = printable(&String::from_utf8_lossy(name));
            if is_new(&name) {
                self.suggestions.push(name);
            }
        }
    }

    /// All names in the order of their numbers; none if the only one is nothing.
    pub(super) fn list(&self) -> &[String] {
        match &self.list[..] {
            [only] if only.is_empty() => &[],
            list => list,
        }
    }

    /// Streams that are there, if one was asked for that is not.
    pub(super) fn missing(&self) -> Option<(String, &[String])> {
        let selected = self.selected.as_ref().filter(|_| self.list.is_empty())?;
        Some((printable(&String::from_utf8_lossy(selected)), &self.suggestions))
    }

    /// Whether there were more names than numbers.
    pub(super) fn is_full(&self) -> bool {
        self.is_full
    }
}

/// `8,0`, and nothing else.
fn device(name: &str) -> Option<DeviceNumber> {
    let mut fields = Fields::new(name.as_bytes());
    fields.device().ok().filter(|_| fields.rest().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_numbered_in_order_of_appearance() {
        let mut names = Names::new(None);
        let numbers: Vec<_> = [&b"b"[..], b"a", b"a", b"b"].map(|name| names.number(name)).into();
        assert_eq!(numbers, [0, 1, 1, 0]);
        assert_eq!(names.list(), ["b", "a"]);
    }

    #[test]
    fn names_cannot_steer_a_terminal() {
        let mut names = Names::new(None);
        assert_eq!(
            [&b"\x1b[31m"[..], b"\x1b[31m", b"a\n"].map(|name| names.number(name)),
            [0, 0, 1]
        );
        assert_eq!(names.list(), ["\u{fffd}[31m", "a\u{fffd}"]);
        let mut names = Names::new(Some("\x1b"));
        names.number(b"\x07");
        assert_eq!(names.missing(), Some(("\u{fffd}".to_owned(), &["\u{fffd}".to_owned()][..])));
    }

    #[test]
    fn more_names_than_numbers_share_the_last_one() {
        let mut names = Names::new(None);
        for name in 0..70_000u32 {
            let number = names.number(&name.to_be_bytes());
            assert_eq!(u32::from(number), name.min(65_534));
        }
        assert!(names.is_full());
        assert_eq!(names.list().len(), STREAMS_MAX);
        assert_eq!(names.list()[65_534], OTHERS);
    }

    #[test]
    fn a_stream_is_asked_for_by_name_and_processes_also_by_device() {
        let (sda, sdb) = (DeviceNumber::new(8, 0).unwrap(), DeviceNumber::new(8, 16).unwrap());
        let mut names = Names::new(Some("x"));
        assert_eq!((names.number(b"y"), names.number(b"x")), (NOT_ASKED_FOR, 0));
        assert_eq!((names.volume(b"y"), names.volume(b"x")), (None, Some(0)));
        assert_eq!(names.process(b"x", sda), Some(0));
        assert_eq!(names.process(b"y", sda), Some(NOT_ASKED_FOR));
        assert!(names.wants(sdb) && names.missing().is_none());
        for name in ["8,16 ", "8,16,0"] {
            assert!(Names::new(Some(name)).wants(sda), "{name} is no device's");
        }
        let mut names = Names::new(Some("8,16"));
        assert_eq!((names.process(b"x", sda), names.wants(sda)), (None, false));
        assert_eq!(names.missing(), Some(("8,16".to_owned(), &["x".to_owned()][..])));
        assert_eq!((names.process(b"x", sdb), names.wants(sdb)), (Some(0), true));
    }
}
