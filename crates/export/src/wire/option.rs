//! What is said before an export is chosen: greeting, options and their replies.

/// The length of an option without its data.
pub const HEAD: usize = 16;
/// Longer data of an option than this are nothing that a client needs: names have 4096 bytes at most.
pub const DATA_MAX: u32 = 64 << 10;

const GREETING_MAGIC: u64 = 0x4e42_444d_4147_4943; // NBDMAGIC
const OPTION_MAGIC: u64 = 0x4948_4156_454f_5054; // IHAVEOPT
const REPLY_MAGIC: u64 = 0x0003_e889_0455_65a9;

const FIXED_NEWSTYLE: u16 = 1;
const NO_ZEROES: u16 = 2;

const EXPORT_NAME: u32 = 1;
const ABORT: u32 = 2;
const LIST: u32 = 3;
const INFO: u32 = 6;
const GO: u32 = 7;
const STRUCTURED_REPLY: u32 = 8;
const LIST_META_CONTEXT: u32 = 9;
const SET_META_CONTEXT: u32 = 10;

/// What a reply to an option says, by its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum Said {
    /// Done, or that was all.
    Ack = 1,
    /// An export's name.
    Server = 2,
    /// Something about an export.
    Info = 3,
    /// A metadata context.
    MetaContext = 4,
    /// There is no such option here.
    Unsupported = (1 << 31) + 1,
    /// The option's data are not what they should be.
    Invalid = (1 << 31) + 3,
    /// There is no such export.
    Unknown = (1 << 31) + 6,
    /// The export cannot be had now.
    Shutdown = (1 << 31) + 7,
}

/// A client's first word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClientFlags {
    /// No zeros are to follow the answer to `EXPORT_NAME`.
    pub no_zeroes: bool,
}

/// An option without its data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// Which, by its number.
    pub option: u32,
    /// Bytes of data that follow.
    pub length: u32,
}

/// An option.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Asked<'a> {
    /// Use an export, without an answer if that cannot be.
    ExportName(&'a str),
    /// End.
    Abort,
    /// Name all exports.
    List,
    /// Tell about an export.
    Info {
        /// Its name.
        name: &'a str,
    },
    /// Tell about an export and use it.
    Go {
        /// Its name.
        name: &'a str,
    },
    /// Reply in chunks.
    StructuredReply,
    /// Name metadata contexts.
    ListMetaContext(Contexts<'a>),
    /// Use metadata contexts.
    SetMetaContext(Contexts<'a>),
}

/// Metadata contexts that are asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contexts<'a> {
    /// The export.
    pub export: &'a str,
    /// Their names, or beginnings of them.
    pub queries: Vec<&'a [u8]>,
}

/// Why there is no option: what the client is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoOption {
    /// One that this server does not have.
    Unsupported,
    /// One whose data are not in order.
    Invalid,
}

/// What the server says first.
pub fn greeting() -> Vec<u8> {
    let flags = FIXED_NEWSTYLE | NO_ZEROES;
    [&GREETING_MAGIC.to_be_bytes()[..], &OPTION_MAGIC.to_be_bytes(), &flags.to_be_bytes()].concat()
}

/// What the client says to that; `None` if it wants what it was not offered, or no fixed newstyle.
pub fn client_flags(bytes: [u8; 4]) -> Option<ClientFlags> {
    let flags = u32::from_be_bytes(bytes);
    let (fixed, no_zeroes) = (u32::from(FIXED_NEWSTYLE), u32::from(NO_ZEROES));
    let is_known = flags & !(fixed | no_zeroes) == 0;
    (is_known && flags & fixed != 0).then_some(ClientFlags { no_zeroes: flags & no_zeroes != 0 })
}

/// Reads an option's head; `None` if it is none.
pub fn head(bytes: &[u8; HEAD]) -> Option<Head> {
    let bytes = &mut &bytes[..];
    let magic = u64::from_be_bytes(*super::take(bytes)?);
    let (option, length) = (super::take_u32(bytes)?, super::take_u32(bytes)?);
    (magic == OPTION_MAGIC).then_some(Head { option, length })
}

/// What the option with this number and these data asks for.
///
/// # Errors
/// What it is not.
pub fn parse(option: u32, data: &[u8]) -> Result<Asked<'_>, NoOption> {
    let name = |bytes| str::from_utf8(bytes).map_err(|_| NoOption::Invalid);
    let without_data = |asked| if data.is_empty() { Ok(asked) } else { Err(NoOption::Invalid) };
    match option {
        EXPORT_NAME => Ok(Asked::ExportName(name(data)?)),
        ABORT => Ok(Asked::Abort),
        LIST => without_data(Asked::List),
        INFO => Ok(Asked::Info { name: name(export_of(data)?)? }),
        GO => Ok(Asked::Go { name: name(export_of(data)?)? }),
        STRUCTURED_REPLY => without_data(Asked::StructuredReply),
        LIST_META_CONTEXT => Ok(Asked::ListMetaContext(contexts(data)?)),
        SET_META_CONTEXT => Ok(Asked::SetMetaContext(contexts(data)?)),
        _ => Err(NoOption::Unsupported),
    }
}

/// A reply to the option with this number.
pub fn reply(option: u32, said: Said, data: &[u8]) -> Vec<u8> {
    let length = (data.len() as u32).to_be_bytes();
    let numbers = [option.to_be_bytes(), (said as u32).to_be_bytes(), length].concat();
    [&REPLY_MAGIC.to_be_bytes()[..], &numbers, data].concat()
}

/// The name in `INFO` and `GO`. Which pieces of information are asked for makes no difference: all are
/// given.
fn export_of(mut data: &[u8]) -> Result<&[u8], NoOption> {
    let name = (|| {
        let name = super::take_string(&mut data)?;
        let count = super::take_u16(&mut data)?;
        (data.len() == usize::from(count) * 2).then_some(name)
    })();
    name.ok_or(NoOption::Invalid)
}

fn contexts(mut data: &[u8]) -> Result<Contexts<'_>, NoOption> {
    let contexts = (|| {
        let export = str::from_utf8(super::take_string(&mut data)?).ok()?;
        let count = super::take_u32(&mut data)?;
        // Each takes four bytes at least, so that there are no more than the data can hold.
        let queries = (0..count).map(|_| super::take_string(&mut data)).collect::<Option<_>>()?;
        data.is_empty().then_some(Contexts { export, queries })
    })();
    contexts.ok_or(NoOption::Invalid)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn string(text: &str) -> Vec<u8> {
        [&(text.len() as u32).to_be_bytes(), text.as_bytes()].concat()
    }

    #[test]
    fn the_greeting_is_as_described() {
        assert_eq!(greeting(), *b"NBDMAGICIHAVEOPT\0\x03");
        assert_eq!(client_flags([0, 0, 0, 3]), Some(ClientFlags { no_zeroes: true }));
        assert_eq!(client_flags([0, 0, 0, 1]), Some(ClientFlags { no_zeroes: false }));
        for wrong in [[0, 0, 0, 0], [0, 0, 0, 2], [0, 0, 0, 5], [0x80, 0, 0, 1]] {
            assert_eq!(client_flags(wrong), None, "{wrong:?}");
        }
    }

    #[test]
    fn options_are_read_with_their_data() {
        assert_eq!(head(b"IHAVEOPT\0\0\0\x07\0\0\0\x05"), Some(Head { option: 7, length: 5 }));
        assert_eq!(head(b"IHAVEOPS\0\0\0\x07\0\0\0\x05"), None);
        let go = [string("evo"), vec![0, 1, 0, 3]].concat();
        assert_eq!(parse(GO, &go), Ok(Asked::Go { name: "evo" }));
        assert_eq!(parse(EXPORT_NAME, b"evo"), Ok(Asked::ExportName("evo")));
        assert_eq!(parse(LIST, b""), Ok(Asked::List));
        let set = [string(""), vec![0, 0, 0, 2], string("base:allocation"), string("x")].concat();
        let queries = vec![b"base:allocation".as_slice(), b"x"];
        assert_eq!(
            parse(SET_META_CONTEXT, &set),
            Ok(Asked::SetMetaContext(Contexts { export: "", queries }))
        );
    }

    #[test]
    fn what_is_none_or_not_in_order_is_told_apart() {
        assert_eq!(parse(5, b""), Err(NoOption::Unsupported), "TLS");
        assert_eq!(parse(77, b"abc"), Err(NoOption::Unsupported));
        let go = [string("evo"), vec![0, 2, 0, 3]].concat();
        for (option, data) in [
            (LIST, b"x".to_vec()),
            (STRUCTURED_REPLY, b"x".to_vec()),
            (GO, go),
            (GO, vec![0, 0, 0, 9, b'x']),
            (EXPORT_NAME, vec![0xff, 0xfe]),
            (SET_META_CONTEXT, [string(""), vec![0xff; 4]].concat()),
            (LIST_META_CONTEXT, [string(""), vec![0, 0, 0, 0, 1]].concat()),
        ] {
            assert_eq!(parse(option, &data), Err(NoOption::Invalid), "{option} {data:?}");
        }
    }

    #[test]
    fn a_reply_names_its_option_and_its_length() {
        let expected = [
            [0, 3, 0xe8, 0x89, 4, 0x55, 0x65, 0xa9].as_slice(),
            &[0, 0, 0, 7, 0x80, 0, 0, 6],
            &[0, 0, 0, 2, b'n', b'o'],
        ];
        assert_eq!(reply(7, Said::Unknown, b"no"), expected.concat());
    }
}
