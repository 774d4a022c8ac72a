//! Where the kernel puts what: its own descriptions of trace pages and events.
//!
//! Every kernel describes its layouts in text below `events/`, a line a field:
//! `field:char rwbs[10];  offset:34;  size:10;  signed:0;`. Offsets and sizes differ between
//! versions and machines, names do not.

/// Where a field lies in a record, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Field {
    pub(super) offset: usize,
    pub(super) size: usize,
}

impl Field {
    /// Its bytes; `None` if the record is too short.
    pub(super) fn bytes(self, record: &[u8]) -> Option<&[u8]> {
        record.get(self.offset..self.offset.checked_add(self.size)?)
    }

    /// Its value as an unsigned number of one, two, four or eight bytes in the machine's order.
    pub(super) fn number(self, record: &[u8]) -> Option<u64> {
        Some(match *self.bytes(record)? {
            [a] => u64::from(a),
            [a, b] => u64::from(u16::from_ne_bytes([a, b])),
            [a, b, c, d] => u64::from(u32::from_ne_bytes([a, b, c, d])),
            [a, b, c, d, e, f, g, h] => u64::from_ne_bytes([a, b, c, d, e, f, g, h]),
            _ => return None,
        })
    }
}

/// The fields that a description names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fields(Vec<(String, Field)>);

impl Fields {
    /// Those of all lines that describe one; other lines mean something else.
    pub(super) fn parse(description: &str) -> Self {
        Self(description.lines().filter_map(parse_field).collect())
    }

    pub(super) fn get(&self, name: &str) -> Option<Field> {
        let found = self.0.iter().find(|(other, _)| other == name);
        found.map(|(_, field)| *field)
    }
}

/// The number that events of this kind bear in their field `common_type`.
pub(super) fn event_number(description: &str) -> Option<u64> {
    let number = description.lines().find_map(|line| line.strip_prefix("ID:"));
    number?.trim().parse().ok()
}

fn parse_field(line: &str) -> Option<(String, Field)> {
    let mut parts = line.trim().split(';').map(str::trim);
    let declaration = parts.next()?.strip_prefix("field:")?;
    let name = declaration.split_whitespace().last()?;
    let name = name.split('[').next()?.to_owned();
    let mut number = |key: &str| parts.next()?.strip_prefix(key)?.parse().ok();
    let (offset, size) = (number("offset:")?, number("size:")?);
    Some((name, Field { offset, size }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_gives_name_and_place() {
        let fields = Fields::parse(
            "name: block_rq_issue\nID: 2104\nformat:\n\
             \tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n\
             \tfield:char rwbs[10];\toffset:34;\tsize:10;\tsigned:0;\n\
             \tfield:__data_loc char[] cmd;\toffset:60;\tsize:4;\tsigned:0;\n\n\
             print fmt: \"%d field:char no;\", REC->dev\n",
        );
        assert_eq!(fields.get("common_type"), Some(Field { offset: 0, size: 2 }));
        assert_eq!(fields.get("rwbs"), Some(Field { offset: 34, size: 10 }));
        assert_eq!(fields.get("cmd"), Some(Field { offset: 60, size: 4 }));
        assert_eq!((fields.get("no"), fields.get("")), (None, None));
    }

    #[test]
    fn a_number_is_as_wide_as_its_field_says() {
        let record = 0x1122_3344_5566_7788_u64.to_ne_bytes();
        let at = |offset, size| Field { offset, size }.number(&record);
        assert_eq!(at(0, 8), Some(0x1122_3344_5566_7788));
        assert_eq!(at(0, 4).zip(at(4, 4)).map(|(a, b)| a + b), Some(0x1122_3344 + 0x5566_7788));
        assert_eq!([at(0, 3), at(4, 8), at(9, 1), at(usize::MAX, 2)], [None; 4]);
    }
}
