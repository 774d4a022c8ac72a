//! From the first word with a client to its last request.

use std::io::{self, Read, Write};
use std::sync::Arc;
use std::time::Duration;

use crate::answer::{Tag, text_of};
use crate::client::{COMMAND_COST, Client, REQUEST_COST, Stream};
use crate::drive::{Request, Work};
use crate::live::Live;
use crate::negotiate::{Haggling, Offer, Step};
use crate::places::COMMAND_MAX;
use crate::wire::option;
use crate::wire::reply;
use crate::wire::request::{Agreed, Command, Errno, HEAD, Head, PAYLOAD_MAX};

/// How long a client may take for its next word before it has chosen an export.
const PATIENCE: Duration = Duration::from_secs(10);
/// Options that a client may send: nobody needs more than a few.
const OPTIONS_MAX: usize = 1000;
/// What is read at once, at least.
const READ_MIN: usize = 64 << 10;

/// Serves one client until it goes, or its drive loses its power.
pub(crate) fn serve(stream: Stream, exports: &[Arc<Live>]) {
    // A client that is gone, or says what it may not, is not worth a word: it may have gone for any
    // reason.
    let Ok(Some((export, agreed))) = negotiate(&stream, exports) else {
        return stream.shut_down();
    };
    let live = &exports[export];
    let client = Arc::new(Client::new(stream));
    let Some(number) = live.join(&client) else { return client.close() };
    let mut conversation = Conversation { live, client: &client, agreed, batch: Vec::new() };
    if conversation.go_on().is_ok() {
        client.wait_for_all();
    }
    live.leave(number);
    client.close();
}

/// Which export the client uses, and what was agreed on; `None` if it has ended in order.
fn negotiate(stream: &Stream, exports: &[Arc<Live>]) -> io::Result<Option<(usize, Agreed)>> {
    let mut stream = stream;
    stream.set_patience(Some(PATIENCE))?;
    stream.write_all(&option::greeting())?;
    let mut flags = [0; 4];
    stream.read_exact(&mut flags)?;
    let flags = option::client_flags(flags).ok_or(io::ErrorKind::InvalidData)?;
    let mut haggling = Haggling::new(flags);
    for _ in 0..OPTIONS_MAX {
        let mut head = [0; option::HEAD];
        stream.read_exact(&mut head)?;
        let head = option::head(&head).ok_or(io::ErrorKind::InvalidData)?;
        if head.length > option::DATA_MAX {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let mut data = vec![0; head.length as usize];
        stream.read_exact(&mut data)?;
        let offers: Vec<Offer> = exports.iter().map(|live| live.offer()).collect();
        match haggling.answer(head.option, &data, &offers) {
            Step::GoOn(answer) => stream.write_all(&answer)?,
            Step::End(answer) => {
                stream.write_all(&answer)?;
                return Ok(None);
            }
            Step::Serve { answer, export, agreed } => {
                stream.write_all(&answer)?;
                stream.set_patience(None)?;
                return Ok(Some((export, agreed)));
            }
        }
    }
    Err(io::ErrorKind::InvalidData.into())
}

/// A client that has chosen its export.
struct Conversation<'a> {
    live: &'a Live,
    client: &'a Arc<Client>,
    agreed: Agreed,
    /// Requests that came together.
    batch: Vec<(Request, Tag)>,
}

/// Bytes from a client that were not looked at yet.
#[derive(Default)]
struct Inbox {
    /// Room, which stays: to clear it anew for each read would take longer than the read.
    bytes: Vec<u8>,
    taken: usize,
    filled: usize,
}

impl Conversation<'_> {
    /// Takes requests until the client says that it goes; an error if it goes without a word.
    fn go_on(&mut self) -> io::Result<()> {
        let mut inbox = Inbox::default();
        loop {
            let Some(head) = inbox.head() else {
                self.ask();
                inbox.read_on(self.client, READ_MIN)?;
                continue;
            };
            let head = Head::parse(head).map_err(|_| io::ErrorKind::InvalidData)?;
            let payload = head.payload() as usize;
            if payload > PAYLOAD_MAX as usize {
                self.ask();
                inbox.pass_over(self.client, HEAD + payload)?;
                self.refuse(&head, Errno::Invalid);
                continue;
            }
            let missing = (HEAD + payload).saturating_sub(inbox.rest().len());
            if missing > 0 {
                self.ask();
                inbox.read_on(self.client, missing)?;
                continue;
            }
            let data = inbox.take(HEAD + payload)[HEAD..].to_vec();
            match head.command(&self.agreed) {
                Ok(Command::Disconnect) => {
                    self.ask();
                    return Ok(());
                }
                Ok(command) => self.take(&head, command, data)?,
                Err(errno) => self.refuse(&head, errno),
            }
        }
    }

    fn take(&mut self, head: &Head, command: Command, data: Vec<u8>) -> io::Result<()> {
        let (offset, length) = (head.offset, u64::from(head.length));
        let (work, forced) = match command {
            Command::Read { .. } => (Work::Read, false),
            Command::Write { forced } => (Work::Write(data), forced),
            Command::Flush | Command::Disconnect => (Work::Flush, false),
            Command::Trim { forced } => (Work::Trim, forced),
            Command::Cache => (Work::Cache, false),
            Command::WriteZeroes { forced, may_be_hole, only_if_fast } => {
                (Work::WriteZeroes { may_be_hole, only_if_fast }, forced)
            }
            Command::BlockStatus { only_first } => (Work::Status { only_first }, false),
        };
        let kept = match work {
            Work::Read | Work::Write(_) => head.length as usize,
            // As many commands as it may become.
            Work::WriteZeroes { .. } => (length / COMMAND_MAX) as usize * COMMAND_COST,
            _ => 0,
        };
        let cost = REQUEST_COST + kept;
        self.count(cost)?;
        let tag = Tag {
            client: Arc::clone(self.client),
            cookie: head.cookie,
            offset,
            cost,
            structured: self.agreed.structured,
            unfragmented: command == Command::Read { unfragmented: true },
        };
        self.batch.push((Request { work, offset, length, forced }, tag));
        Ok(())
    }

    /// Waits while too much is under way; what would wait here with it is asked for before.
    fn count(&mut self, cost: usize) -> io::Result<()> {
        if self.client.is_full() {
            self.ask();
        }
        match self.client.asks(cost) {
            true => Ok(()),
            false => Err(io::ErrorKind::ConnectionAborted.into()),
        }
    }

    fn refuse(&mut self, head: &Head, errno: Errno) {
        // An answer counts as a request does: whoever does not take his is not listened to.
        if self.count(REQUEST_COST).is_ok() {
            let text = text_of(errno);
            let bytes = reply::failed(head.cookie, errno, self.agreed.structured, text);
            let all = 0..bytes.len();
            self.client.answer(bytes, all, REQUEST_COST);
        }
    }

    fn ask(&mut self) {
        if !self.batch.is_empty() {
            self.live.ask(std::mem::take(&mut self.batch));
        }
    }
}

impl Inbox {
    fn rest(&self) -> &[u8] {
        &self.bytes[self.taken..self.filled]
    }

    fn head(&self) -> Option<&[u8; HEAD]> {
        self.rest().first_chunk()
    }

    fn take(&mut self, count: usize) -> &[u8] {
        let begin = self.taken;
        self.taken += count;
        &self.bytes[begin..self.taken]
    }

    /// Waits for more. Room is made for no more than twice what has come, whatever was announced.
    fn read_on(&mut self, client: &Client, missing: usize) -> io::Result<()> {
        self.bytes.copy_within(self.taken..self.filled, 0);
        (self.filled, self.taken) = (self.filled - self.taken, 0);
        let most = self.filled + missing.min(self.filled).max(READ_MIN);
        self.bytes.resize(most.max(self.bytes.len()), 0);
        match (&client.stream).read(&mut self.bytes[self.filled..most])? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            count => {
                self.filled += count;
                Ok(())
            }
        }
    }

    /// Forgets the next `count` bytes, come or not.
    fn pass_over(&mut self, client: &Client, mut count: usize) -> io::Result<()> {
        loop {
            let here = count.min(self.rest().len());
            self.taken += here;
            count -= here;
            if count == 0 {
                return Ok(());
            }
            self.read_on(client, READ_MIN)?;
        }
    }
}
