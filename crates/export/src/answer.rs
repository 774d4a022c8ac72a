//! Answers of a drive, on their way to the clients who asked.

use std::ops::Range;
use std::sync::Arc;

use crate::client::Client;
use crate::drive::{Answer, Done};
use crate::wire::reply;
use crate::wire::request::Errno;

/// Answers to one client that follow each other are sent together up to this size.
const TOGETHER_MAX: usize = 256 << 10;

/// Whom a request is of, and how he wants its answer.
#[derive(Debug)]
pub(crate) struct Tag {
    pub(crate) client: Arc<Client>,
    pub(crate) cookie: u64,
    pub(crate) offset: u64,
    pub(crate) cost: usize,
    pub(crate) structured: bool,
    pub(crate) unfragmented: bool,
}

/// Bytes for one client.
struct Parcel {
    client: Arc<Client>,
    bytes: Vec<u8>,
    /// What of them is sent: all from somewhere on.
    part: Range<usize>,
    cost: usize,
}

/// Sends all of these, in their order.
pub(crate) fn send_all(done: Vec<Done<Tag>>) {
    let mut parcel: Option<Parcel> = None;
    for Done { tag, answer, .. } in done {
        let (bytes, part) = tag.reply(answer);
        match &mut parcel {
            Some(last) if last.takes(&tag, &part) => last.add(&bytes[part], tag.cost),
            _ => {
                let next = Parcel { client: tag.client, bytes, part, cost: tag.cost };
                parcel.replace(next).into_iter().for_each(Parcel::send);
            }
        }
    }
    parcel.into_iter().for_each(Parcel::send);
}

impl Parcel {
    fn takes(&self, tag: &Tag, part: &Range<usize>) -> bool {
        Arc::ptr_eq(&self.client, &tag.client) && self.part.len() + part.len() <= TOGETHER_MAX
    }

    fn add(&mut self, bytes: &[u8], cost: usize) {
        self.bytes.extend(bytes);
        self.part.end = self.bytes.len();
        self.cost += cost;
    }

    fn send(self) {
        self.client.answer(self.bytes, self.part, self.cost);
    }
}

impl Tag {
    /// What the client is sent: bytes, and which of them.
    fn reply(&self, answer: Result<Answer, Errno>) -> (Vec<u8>, Range<usize>) {
        let bytes = match answer {
            Ok(Answer::Data(data)) => {
                let Self { cookie, offset, structured, unfragmented, .. } = *self;
                return reply::data(cookie, offset, data, structured, unfragmented);
            }
            Ok(Answer::Done) => reply::done(self.cookie),
            Ok(Answer::Extents(extents)) => reply::block_status(self.cookie, &extents),
            Err(errno) => reply::failed(self.cookie, errno, self.structured, text_of(errno)),
        };
        let all = 0..bytes.len();
        (bytes, all)
    }
}

/// What people are told of an error of the drive.
pub(crate) fn text_of(errno: Errno) -> &'static str {
    match errno {
        Errno::NotPermitted => "the simulated drive is worn out and takes no more writes",
        Errno::InputOutput => {
            "the simulated drive cannot read what was there, or its data cannot be kept"
        }
        Errno::Invalid => {
            "the request is not in order: its flags, its length, its alignment or its place"
        }
        Errno::NoSpace => "behind the end of the drive, or no room for its data",
        Errno::NotSupported => "zeros take as long as a write here",
        Errno::Shutdown => "the export ends",
    }
}
