//! What stands below the options in each command's help: examples, and the rules of all commands.

pub(crate) const ALL: &str = "\
Examples:
  writecliff review                                  a whole review of a simulated drive
  writecliff run consistency sim:crucial-m500-960gb  one test
  writecliff drives                                  what there is to test
  writecliff report runs/*                           all of it on one page

DRIVE is sim:NAME, sim:PATH.toml, one of these with @1/16 behind it for a scale model, \
array:raid5:4:sim:NAME for an array of them, a block device, a file, or null: for none at all.
--out names a directory for runs and pages, which must be new or empty or an earlier page's, and a \
file for traces, which must be new unless there is --force.
Exit codes: 0 done; 1 failed, or a gate is closed; 2 wrong usage: what was typed, or a path that is \
not there or is something else; 3 refused for safety; 130 interrupted, what was finished is kept.";

pub(crate) const REVIEW: &str = "\
Examples:
  writecliff review sim:samsung-840-evo-250gb
  writecliff review sim:tiny --quick --open
  writecliff review /dev/sdX --tests consistency,trim --rated-writes 72TB --out runs/mine
  writecliff review --resume runs/mine";

pub(crate) const RUN: &str = "\
Examples:
  writecliff run consistency sim:samsung-840-evo-250gb --spare 25
  writecliff run spare-area sim:crucial-m500-960gb --spare 0,10,25 --duration 30min
  writecliff run mixed sim:tiny --plan jobs.fio
  writecliff run commit --in /var/lib/etcd
  writecliff run consistency sim:tiny --json | jq '.figures[] | {name, value, unit}'

The method of each test, and what its figures mean: docs/methodology/TEST.md";

pub(crate) const SWEEP: &str = "\
Examples:
  writecliff sweep spare.toml --out runs/spare
  writecliff sweep --resume runs/spare
  duckdb -c \"SELECT * FROM 'runs/spare/figures.parquet'\"

spare.toml:
  drive = \"sim:samsung-840-evo-250gb@1/16\"
  test = \"consistency\"
  figures = [\"steady mean\", \"steady floor\"]
  [plan]
  duration = \"125s\"
  [grid]
  \"plan.spare_percent\" = [0, 10, 25]
  \"drive.gc.pacing\" = [\"eager\", \"proportional\"]";

pub(crate) const FLEET: &str = "\
Examples:
  writecliff fleet fleet.toml --out runs/fleet
  writecliff fleet --resume runs/fleet
  duckdb -c \"SELECT * FROM 'runs/fleet/drives.parquet' ORDER BY late DESC\"

fleet.toml:
  groups = 100                                     # of data + parity drives each
  data = 1
  parity = 2                                       # three copies
  duration = \"10min\"
  limit = \"10ms\"
  [[drives]]
  drive = \"sim:samsung-840-evo-250gb@1/16\"
  overwrites = [0.5, 2]                            # between half its data and twice
  [load]
  iops = 100000
  read_percent = 70
  [[variants]]
  name = \"as it is\"
  [[variants]]
  name = \"hedged after 2 ms\"
  hedge = \"2ms\"";

pub(crate) const EXPORT: &str = "\
Examples:
  writecliff export sim:crucial-m500-240gb --prepare steady
  writecliff export sim:tiny --store tiny.store --speed free
  writecliff export sim:tiny old=sim:intel-x25-m-80gb --listen 127.0.0.1:10809
  writecliff export sim:crucial-m500-240gb --out runs/m500 --load \"pgbench, scale 1000\"
  writecliff export sim:crucial-m500-240gb --trace database.trace
  writecliff export ctl tiny.sock power-cut

How to attach it is printed. What it shows, and what it leaves out: docs/export.md";

pub(crate) const EXPORT_CTL: &str = "\
Examples:
  writecliff export ctl tiny.sock status --json | jq '.[].lateness'
  writecliff export ctl tiny.sock power-cut && writecliff export ctl tiny.sock power-on
  writecliff export ctl tiny.sock lose-die 3 && writecliff export ctl tiny.sock spare

Connections end at the cut. What was flushed, or forced, is there when the power is back; of the rest \
exactly what the model had not brought to NAND is not. A die is lost once, and for good.";

pub(crate) const IMPORT: &str = "\
Examples:
  fio --output-format=json+ --output=old.json jobs.fio
  writecliff import old.json --model \"Samsung 990 PRO 1TB\" --capacity 1TB --out runs/old
  writecliff report runs/old runs/new --different-plans";

pub(crate) const MODEL: &str = "\
Examples:
  writecliff model sim:generic-datacenter-nvme-960gb@1/16 --format iocost
  writecliff run cost-model /dev/nvme1n1 --out runs/model
  writecliff model runs/model --format hwdb > 91-iocost-writecliff.hwdb
  writecliff model runs/model --format seastar --mixed --mount-point /var/lib/scylla

A drive is measured first, by the test cost-model, which DESTROYS what is on it and asks for consent like \
any other; a run that is there is only read. The method: docs/methodology/cost-model.md";

pub(crate) const DRIVES: &str = "\
Examples:
  writecliff drives samsung                          those with this in their name
  writecliff drives samsung-840-evo-250gb            all about one
  writecliff drives /dev/sdX                         may it be tested? what does it say of itself?
  writecliff drives --json | jq '.devices[] | select(.may_be_tested) | .path'
  writecliff drives --check samsung-840-evo-250gb    model beside published figures
  writecliff drives --check --leave-out test         and had it not been fitted to them
  writecliff drives --fit mine.toml --figures mine.csv";

pub(crate) const TRACE: &str = "\
Examples:
  writecliff trace record /dev/sdX -- make           what a command asks of a disk
  writecliff trace info sdX.trace --out page
  writecliff trace replay sdX.trace sim:crucial-m500-960gb --timed --map wrap";

pub(crate) const RECORD: &str = "\
Examples:
  writecliff trace record /dev/sdX --duration 10min
  writecliff trace record /dev/sdX --out /dev/shm/build.trace -- make";

pub(crate) const CONVERT: &str = "\
Examples:
  writecliff trace convert light-2011 light.csv
  writecliff trace convert sda.blktrace.* sda.trace
  writecliff trace convert volumes.csv.gz --from msr --stream src1_0 --out src1.trace";

pub(crate) const INFO: &str = "\
Examples:
  writecliff trace info light-2011
  writecliff trace info mine.trace theirs.trace --out page";

pub(crate) const MAKE: &str = "\
Examples:
  writecliff trace make light-2011 --scale 1%
  writecliff trace make light-2011 --print-plan > mine.toml
  writecliff trace make mine.toml --out mine.trace";

pub(crate) const REPLAY: &str = "\
Examples:
  writecliff trace replay light-2011 sim:samsung-840-evo-250gb
  writecliff trace replay mine.trace sim:crucial-m500-960gb --timed --map wrap";

pub(crate) const METER: &str = "\
Example:
  writecliff meter runs/mine/power meter.csv --clock-offset -300ms";

pub(crate) const CIPHER: &str = "\
Example:
  writecliff cipher > here.toml && writecliff run encryption sim:intel-335-240gb --plan here.toml";

pub(crate) const PURGE: &str = "\
Examples:
  writecliff drives /dev/nvme0n1                     which purges does it have?
  writecliff purge /dev/nvme0n1 --destroy-data-on SERIAL
  writecliff purge /dev/nvme0n1 --purge sanitize-block --destroy-data-on SERIAL";

pub(crate) const SECURITY: &str = "\
Example:
  writecliff security /dev/nvme0n1";

pub(crate) const PSID_REVERT: &str = "\
Example:
  writecliff psid-revert /dev/nvme0n1 --psid ABCD... --destroy-data-on SERIAL";

pub(crate) const GATE: &str = "\
Examples:
  writecliff gate runs/new --min-floor-iops 5000 --max-p999 20ms
  writecliff gate runs/new --baseline runs/old --tolerance 3% --junit gate.xml

Exit codes: 0 open; 1 closed: a check failed, or the run did; 2 it cannot be decided; 3 refused.";

pub(crate) const REPORT: &str = "\
Examples:
  writecliff report runs/evo runs/m500 --out page --open
  writecliff report runs/evo --json | jq '.[].figures'";

pub(crate) const COMPLETIONS: &str = "\
Examples:
  writecliff completions bash > /etc/bash_completion.d/writecliff
  writecliff completions zsh > \"${fpath[1]}/_writecliff\"
  writecliff completions fish > ~/.config/fish/completions/writecliff.fish";

pub(crate) const MANUAL: &str = "\
Example:
  writecliff manual /usr/local/share/man/man1";

pub(crate) const BENCH: &str = "\
Examples:
  writecliff bench serve --open                      every result, in a browser
  writecliff bench list                              drives that there are results of
  writecliff bench compare 840-evo-250gb m500-240gb  every figure of both
  writecliff bench show samsung-840-evo-250gb        all about one drive, or one run

Finished runs and reviews are in the results library by themselves (--no-bench: not). It is in \
~/.local/share/writecliff/bench, or where WRITECLIFF_BENCH says (off: nowhere). It lists \
directories and copies nothing but what is imported.";

pub(crate) const BENCH_SERVE: &str = "\
Examples:
  writecliff bench serve                             http://127.0.0.1:8642/
  writecliff bench serve runs /mnt/results --open    only what is in these directories

A run that ends appears by itself. The server reads only, and listens on this machine unless \
--listen says otherwise. From elsewhere: ssh -L 8642:localhost:8642 THIS-MACHINE.";

pub(crate) const BENCH_EXPORT: &str = "\
Examples:
  writecliff bench export site                       open site/index.html, or put it on a web host
  writecliff bench export site runs                  only what is in runs
  writecliff bench export site --all-reports         also the reports of all older runs

The rankings come first and can be opened while reports are drawn. Written again into the same \
directory, only what has changed is written, and what was broken off goes on. Serial numbers, the machine \
and its directories are left out.";

pub(crate) const BENCH_ADD: &str = "\
Example:
  writecliff bench add runs/* /mnt/old-results       with whatever comes to be below them";

pub(crate) const BENCH_LIST: &str = "\
Examples:
  writecliff bench list --kind measured
  writecliff bench list samsung                      with this in their name
  writecliff bench list --runs --test consistency
  writecliff bench list runs --json | jq '.drives[].id'";

pub(crate) const BENCH_SHOW: &str = "\
Examples:
  writecliff bench show m500-240gb
  writecliff bench show runs/mine/consistency --json";

pub(crate) const BENCH_COMPARE: &str = "\
Examples:
  writecliff bench compare 840-evo-250gb m500-240gb
  writecliff bench compare runs/before runs/after --markdown

Figures stand beside each other only if they were got under the same conditions; what was not is \
named, with what differs. One is called the better one only if its runs do not lie among the other's, \
the two lie further apart than runs of either do, and it has no doubts.";

pub(crate) const BENCH_RM: &str = "\
Example:
  writecliff bench rm runs/old

Nothing is deleted but what was imported, after a question or with --yes.";

pub(crate) const BENCH_IMPORT: &str = "\
Examples:
  writecliff bench import results.tar.zst
  writecliff bench import ~/Downloads/review.zip --json

Figures are computed anew from the seconds in it, whatever it says they are. Only what runs consist of \
is taken: no pages, no scripts, no links.";
