//! `writecliff export`: simulated drives as network block devices. What it does is in the crate of that
//! name.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand, ValueEnum};
use writecliff::DriveName;
use writecliff_device::{Bytes, printable};
use writecliff_export::{Address, Order, Prepared, Server, Settings, Speed, Status, StoreAt, ask};

use super::report::page_of;
use crate::error::CliError;
use crate::help;
use crate::interrupt::Interrupt;
use crate::library::keep;
use crate::options::{ShownOptions, seed};
use crate::output::{ProgressLine, print, print_json, say};

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct ExportArguments {
    #[command(subcommand)]
    control: Option<ExportCommand>,
    /// Simulated drives: sim:NAME, array:raid5:4:sim:NAME, or OTHER=sim:NAME to be called OTHER by clients
    #[arg(value_name = "DRIVE", required = true)]
    drives: Vec<OsString>,
    /// The unix socket to listen on [default: ./NAME.sock]; beside it is one of control, with .ctl behind
    /// its name
    #[arg(long, value_name = "PATH")]
    socket: Option<PathBuf>,
    /// Listen on this address instead; port 0 is any that is free
    #[arg(long, value_name = "ADDRESS:PORT")]
    listen: Option<SocketAddr>,
    /// Let --listen be an address that other machines reach: whoever does reads and writes the drive
    #[arg(long, requires = "listen")]
    listen_to_all: bool,
    /// Where data are kept, sparsely: memory, a new file, one that an earlier export of the drive has
    /// left, or a directory for one file a drive
    #[arg(long, value_name = "memory|FILE", default_value = "memory")]
    store: PathBuf,
    /// What the drive has behind it, in virtual time, before it is served
    #[arg(long, value_enum, value_name = "STATE", default_value = "purged")]
    prepare: State,
    /// Decides where a steady drive was written [default: 1]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = seed)]
    seed: Option<u64>,
    /// How many times as fast as the clock on the wall the drive's time passes, or free: as fast as it goes
    #[arg(long, value_name = "TIMES|free", default_value = "1", allow_negative_numbers = true)]
    speed: Speed,
    /// Record what the drive is asked, and when it has done it, as a trace in this new file; of one drive
    #[arg(long, value_name = "FILE.trace")]
    trace: Option<PathBuf>,
    /// Record what is done to the drive, second by second, in this new directory, and write a page of it at
    /// the end; of several drives in one for each in it
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// What will be done to it, in your words: on its page, and results of equal words are held against each
    /// other
    #[arg(long, value_name = "TEXT", requires = "out")]
    load: Option<String>,
    /// Leave the result out of the results library (`writecliff bench`)
    #[arg(long, requires = "out")]
    no_bench: bool,
    /// Open the page when it is made
    #[arg(long, requires = "out")]
    open: bool,
    /// Let the drive answer flushes and forced writes without doing them, as some that are sold do
    #[arg(long)]
    lying_flush: bool,

    /// Leave pages that a power cut loses new in their first sectors and old in the others, as some drives that
    /// are sold do
    #[arg(long)]
    shorn_writes: bool,
}

#[derive(Debug, Subcommand)]
enum ExportCommand {
    /// Tell how exported drives are, pull their plug, put it in again, and have a die stop working
    #[command(after_help = help::EXPORT_CTL)]
    Ctl(ControlArguments),
}

#[derive(Debug, Args)]
struct ControlArguments {
    /// The socket that the export has printed
    socket: PathBuf,
    #[command(subcommand)]
    order: OrderCommand,
    /// Only this export, where there are several
    #[arg(long, value_name = "NAME", global = true)]
    export: Option<String>,
    /// Print JSON instead of text
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum State {
    /// As new
    Purged,
    /// Written once, in order
    Filled,
    /// Filled, and twice written over at random
    Steady,
}

#[derive(Debug, Clone, Copy, Subcommand)]
enum OrderCommand {
    /// Tell how it is
    Status,
    /// Pull the plug
    PowerCut,
    /// Put it in again
    PowerOn,
    /// Have a die stop working: what no parity makes up for cannot be read any more
    LoseDie {
        /// Which one, counted from 0
        #[arg(value_name = "N")]
        die: u32,
    },
    /// Tell how many blocks it can do without
    Spare,
    /// Tell what the drive says of itself
    Telemetry,
}

pub(crate) fn export(arguments: &ExportArguments) -> Result<(), CliError> {
    match &arguments.control {
        Some(ExportCommand::Ctl(arguments)) => control(arguments),
        None => serve(arguments),
    }
}

fn control(arguments: &ControlArguments) -> Result<(), CliError> {
    let order = match arguments.order {
        OrderCommand::PowerCut => Order::PowerCut,
        OrderCommand::PowerOn => Order::PowerOn,
        OrderCommand::LoseDie { die } => Order::LoseDie(die),
        OrderCommand::Status | OrderCommand::Spare | OrderCommand::Telemetry => Order::Status,
    };
    let drives = ask(&arguments.socket, order, arguments.export.as_deref())?;
    let text = match arguments.order {
        OrderCommand::Spare => Status::spare_text,
        OrderCommand::Telemetry => Status::telemetry_text,
        _ => Status::text,
    };
    match arguments.json {
        true => print_json(&drives),
        false => print(&text_of(&drives, text)),
    }
}

fn serve(arguments: &ExportArguments) -> Result<(), CliError> {
    let interrupt = Interrupt::catch()?;
    let settings = settings(arguments);
    let line = ProgressLine::begin();
    let server = Server::open(&settings, &mut |share| {
        line.show(|| format!("the drive is prepared: {:.0} %", share * 100.0));
        interrupt.flow()
    })?;
    drop(line);
    if let Address::Tcp(address) = server.address()
        && !address.ip().is_loopback()
    {
        say("note: everybody who can reach this machine can read and write these drives");
    }
    print(&introduction(&server, &settings.socket, arguments))?;
    let served = server.run(&|| interrupt.is_raised())?;
    let trace = served.trace.as_ref().map_or_else(String::new, |(path, summary)| {
        let path = quoted(&path.display().to_string());
        format!(
            "\nTrace: {path}, {} commands\n  writecliff trace info {path} --out page\n  writecliff trace replay \
             {path} sim:NAME --timed\n",
            summary.ios()
        )
    });
    print(&format!("\n{}{trace}", text_of(&served.drives, Status::text)))?;
    let shown = ShownOptions { json: false, quiet: false, open: arguments.open };
    for (place, _) in &served.records {
        keep(place, arguments.no_bench);
        page_of(place, &shown)?;
    }
    Ok(())
}

fn settings(arguments: &ExportArguments) -> Settings {
    let drives: Vec<_> = arguments.drives.iter().map(named).collect();
    let first = drives.first().map_or("export", |(name, _)| name);
    let socket = arguments.socket.clone().unwrap_or_else(|| format!("{first}.sock").into());
    Settings {
        socket,
        listen: arguments.listen,
        listen_to_all: arguments.listen_to_all,
        store: match arguments.store.as_os_str() == "memory" {
            true => StoreAt::Memory,
            false => StoreAt::File(arguments.store.clone()),
        },
        prepared: match arguments.prepare {
            State::Purged => Prepared::Purged,
            State::Filled => Prepared::Filled,
            State::Steady => Prepared::Steady,
        },
        seed: arguments.seed.unwrap_or(1),
        speed: arguments.speed,
        trace: arguments.trace.clone(),
        out: arguments.out.clone(),
        load: arguments.load.as_deref().map(printable),
        lying_flush: arguments.lying_flush,
        shorn_writes: arguments.shorn_writes,
        drives,
    }
}

/// `OTHER=sim:NAME`, or a drive that is called by its own name; so of arrays.
fn named(text: &OsString) -> (String, DriveName) {
    let other = text.to_str().and_then(|text| text.split_once('='));
    match other.map(|(name, drive)| (name, DriveName::from(drive))) {
        Some((name, drive)) if !name.contains(':') && drive.is_simulated() && !name.is_empty() => {
            (name.to_owned(), drive)
        }
        _ => {
            let drive = DriveName::from(text.clone());
            (drive.slug(), drive)
        }
    }
}

/// What is served, and how to attach it.
fn introduction(server: &Server, socket: &Path, arguments: &ExportArguments) -> String {
    let address = server.address();
    let mut lines = Vec::new();
    let drives = server.status();
    for Status { export, drive, model, capacity, .. } in &drives {
        let uri = uri(&address, export);
        lines.push(format!(
            "simulated {} ({}), {capacity}, {}: {uri}",
            printable(model),
            printable(drive),
            state_of(arguments)
        ));
    }
    let floor = drives.first().and_then(Status::floor_text);
    lines.extend(floor.map(|floor| format!("{floor}: nothing faster can be shown")));
    if let Some(first) = drives.first() {
        lines.push(attaching(&address, &first.export, first.capacity));
    }
    let control = quoted(&socket.display().to_string());
    lines.push(format!(
        "How it is, and its plug:\n  writecliff export ctl {control} status\n  writecliff export ctl \
         {control} power-cut\n  writecliff export ctl {control} power-on\n"
    ));
    lines.push("Ctrl-C ends it.\n".to_owned());
    lines.join("\n")
}

fn state_of(arguments: &ExportArguments) -> String {
    let time = match arguments.speed {
        Speed::Free => "without waiting".to_owned(),
        Speed::REAL => "in real time".to_owned(),
        Speed::Times(times) => format!("at {times} times real time"),
    };
    let data = match arguments.store.as_os_str() == "memory" {
        true => "its data in memory".to_owned(),
        false => format!("its data in {}", printable(&arguments.store.display().to_string())),
    };
    let state = arguments.prepare.to_possible_value();
    let state = state.map_or_else(String::new, |state| state.get_name().to_owned());
    let lies = if arguments.lying_flush { ", lying about flushes" } else { "" };
    let shears = if arguments.shorn_writes { ", shearing lost writes" } else { "" };
    format!("{state}, {time}, {data}{lies}{shears}")
}

/// Commands of the clients that people have.
fn attaching(address: &Address, name: &str, capacity: Bytes) -> String {
    let uri = quoted(&uri(address, name));
    let name = quoted(name);
    let to = match address {
        Address::Socket(path) => format!("-unix {}", quoted(&absolute(path).display().to_string())),
        Address::Tcp(address) => format!("{} {}", address.ip(), address.port()),
    };
    format!(
        "\nAttach it (size {} bytes):\n  nbdinfo {uri}\n  nbdcopy {uri} disk.img\n  fio --name=job \
         --ioengine=nbd --uri={uri} --rw=randwrite --bs=4k --iodepth=32 --runtime=60 --time_based\n  qemu-system-x86_64 ... \
         -drive file={uri},format=raw,if=virtio,discard=unmap\nAs a block device, with the kernel's client \
         (root, modprobe nbd):\n  nbd-client {to} -N {name} -b 512 /dev/nbd0\n  nbd-client -d \
         /dev/nbd0\nAs a block device, in a container without that module:\n  touch disk && nbdfuse disk {uri} &\n  \
         losetup --find --show --direct-io=on disk\n",
        capacity.0
    )
}

/// As the clients of libnbd and QEMU write it.
fn uri(address: &Address, name: &str) -> String {
    let name = encoded(name);
    match address {
        Address::Socket(path) => {
            let path = absolute(path).display().to_string();
            format!("nbd+unix:///{name}?socket={}", encoded(&path))
        }
        Address::Tcp(address) => format!("nbd://{address}/{name}"),
    }
}

fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// With what a URI gives a meaning of its own in percent.
fn encoded(text: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte);
    let encode = |byte: u8| match is_plain(byte) {
        true => char::from(byte).to_string(),
        false => format!("%{byte:02X}"),
    };
    text.bytes().map(encode).collect()
}

/// As a shell takes it for one word.
fn quoted(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-._~/:+=,@%".contains(c);
    match !text.is_empty() && text.chars().all(is_plain) {
        true => text.to_owned(),
        false => format!("'{}'", text.replace('\'', "'\\''")),
    }
}

fn text_of(drives: &[Status], text: fn(&Status) -> String) -> String {
    drives.iter().map(text).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_drive_may_be_called_otherwise() {
        let name = |text: &str| named(&OsString::from(text));
        assert_eq!(name("sim:tiny"), ("tiny".to_owned(), DriveName::from("sim:tiny")));
        assert_eq!(name("a=sim:tiny@1/4"), ("a".to_owned(), DriveName::from("sim:tiny@1/4")));
        let array = "array:raid5:4:sim:tiny,chunk=64KiB";
        assert_eq!(name(array), ("raid5-4-tiny-chunk-64KiB".to_owned(), DriveName::from(array)));
        assert_eq!(name(&format!("a={array}")), ("a".to_owned(), DriveName::from(array)));
        assert_eq!(name("/dev/sda").1, DriveName::from("/dev/sda"));
    }

    #[test]
    fn a_uri_is_one_word_of_a_shell_whatever_the_path_is() {
        let address = Address::Socket("/run/my drives/it's?.sock".into());
        let expected = "nbd+unix:///a%20b?socket=/run/my%20drives/it%27s%3F.sock";
        assert_eq!(uri(&address, "a b"), expected);
        assert_eq!(quoted(expected), format!("'{expected}'"));
        assert_eq!(quoted("it's"), "'it'\\''s'");
        let tcp = Address::Tcp("[::1]:10809".parse().unwrap());
        assert_eq!(uri(&tcp, "tiny"), "nbd://[::1]:10809/tiny");
    }
}
