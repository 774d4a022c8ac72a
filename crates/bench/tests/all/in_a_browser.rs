//! What a real browser makes of Bench, from a disk and served: the same results as an oracle over the
//! same data, links that lead to the same page, nothing but a keyboard, and no request elsewhere.
use crate::axe;
use crate::browser;
use crate::made;
use crate::served;

use std::path::{Path, PathBuf};

use browser::{Browser, chromium};
use made::{Cliffs, bench, places, ranking};
use serde_json::{Value, json};
use served::Served;
use writecliff_bench::{
    Bench, Better, Comparison, Conditions, Drive, Kind, Library, Row, Undecided, export,
};

const DRIVES: usize = 24;
const SEEDS: usize = 3;

/// Whether the page has shown what its address asks for. Pictures are painted once the browser has told them
/// their width.
const SHOWN: &str = "document.querySelector('main')?.getAttribute('aria-busy') === 'false' && \
    [...document.querySelectorAll('main .chart')].every(chart => \
        !chart.offsetWidth || chart.querySelector('.drawing').childElementCount > 0)";

/// A page as a reader finds it: all its words.
const WORDS: &str = "document.querySelector('main').innerText";

/// The rows of a ranking: drive and value.
const ROWS: &str = "[...document.querySelectorAll('.ranks li')].map(row => \
    [row.dataset.drive, Number(row.dataset.value)])";

fn exported(bench: &Bench, dir: &Path) -> String {
    let done = export(bench, &Cliffs, dir).unwrap();
    format!("file://{}", done.page.display())
}

fn visit(browser: &mut Browser, base: &str, place: &str) {
    browser.go(&format!("{base}{place}"));
    browser.wait_for(SHOWN);
}

fn browser() -> Option<(Browser, tempfile::TempDir)> {
    let browser = Browser::start(&chromium()?);
    Some((browser, tempfile::tempdir().unwrap()))
}

/// Whole numbers as JavaScript has them: like all others.
fn numbers(value: Value) -> Value {
    match value {
        Value::Number(number) => json!(number.as_f64()),
        Value::Array(all) => all.into_iter().map(numbers).collect(),
        Value::Object(all) => {
            Value::Object(all.into_iter().map(|(name, value)| (name, numbers(value))).collect())
        }
        other => other,
    }
}

type Wanted = fn(&Conditions) -> bool;
type Passes = fn(&Drive) -> bool;

/// Addresses of rankings, and what each means: metric, conditions, drives.
fn rankings() -> Vec<(&'static str, &'static str, Wanted, Passes)> {
    fn simulated(one: &Conditions) -> bool {
        one.kind == Kind::Simulated && one.standard
    }
    fn measured(one: &Conditions) -> bool {
        one.kind == Kind::Measured
    }
    fn quick(one: &Conditions) -> bool {
        one.quick
    }
    fn published(one: &Conditions) -> bool {
        one.kind == Kind::Published
    }
    fn not_quick(one: &Conditions) -> bool {
        !one.quick
    }
    const MEAN: &str = "consistency.steady-mean";
    vec![
        ("#ranking?figure=consistency.steady-mean", MEAN, simulated, |_| true),
        (
            "#ranking?figure=consistency.longest-write",
            "consistency.longest-write",
            simulated,
            |_| true,
        ),
        ("#ranking?figure=consistency.steady-mean&kind=measured", MEAN, measured, |_| true),
        ("#ranking?figure=consistency.steady-mean&kind=published", MEAN, published, |_| true),
        ("#ranking?figure=consistency.steady-mean&kind=mixed", MEAN, not_quick, |_| true),
        (
            "#ranking?figure=consistency.steady-mean&conditions=consistency-simulated-quick",
            MEAN,
            quick,
            |_| true,
        ),
        (
            "#ranking?figure=consistency.steady-mean&maker=Intel&cell=MLC",
            MEAN,
            simulated,
            |drive| drive.maker.as_deref() == Some("Intel") && drive.cell.as_deref() == Some("MLC"),
        ),
        ("#ranking?figure=consistency.steady-mean&capacity=200-500", MEAN, simulated, |drive| {
            (200..=500).contains(&(drive.capacity.unwrap() / 1_000_000_000))
        }),
        (
            "#ranking?figure=consistency.steady-mean&year=2011-&interface=SATA+6+Gb%2Fs",
            MEAN,
            simulated,
            |drive| {
                drive.year.unwrap() >= 2011 && drive.interface.as_deref() == Some("SATA 6 Gb/s")
            },
        ),
        ("#ranking?figure=consistency.steady-mean&price=-300", MEAN, simulated, |drive| {
            drive.price.as_ref().is_some_and(|price| price.usd <= 300.0)
        }),
        ("#ranking?figure=consistency.steady-mean&search=model+2", MEAN, simulated, |drive| {
            let said =
                [&drive.maker, &drive.controller, &drive.nand, &drive.interface, &drive.cell];
            let words = format!("{} {said:?}", drive.name).to_lowercase();
            words.contains("model") && words.contains('2')
        }),
        (
            "#ranking?figure=consistency.fresh&controller=Intel+controller+1",
            "consistency.fresh",
            simulated,
            |drive| drive.controller.as_deref() == Some("Intel controller 1"),
        ),
    ]
}

#[test]
fn rankings_and_filters_are_what_the_library_says_from_a_disk_and_served() {
    let Some((mut browser, dir)) = browser() else { return };
    let bench = bench(DRIVES, SEEDS);
    let served = Served::start(bench.clone());
    for base in [exported(&bench, dir.path()), served.base()] {
        let mut found = 0;
        for (place, metric, wanted, passes) in rankings() {
            visit(&mut browser, &base, place);
            let expected = ranking(&bench, metric, wanted, passes);
            assert_eq!(numbers(browser.evaluate(ROWS)), json!(expected), "{place}");
            found += expected.len();
        }
        assert!(found > 100, "the oracle says something: {found}");
        browser.assert_no_complaints();
    }
}

#[test]
fn a_link_opened_anew_shows_the_same_and_back_leads_back() {
    let Some((mut browser, dir)) = browser() else { return };
    let bench = bench(DRIVES, SEEDS);
    let base = exported(&bench, dir.path());
    for (name, place) in places(&bench) {
        visit(&mut browser, &base, &place);
        let words = browser.evaluate(WORDS);
        visit(&mut browser, &base, "#drives");
        visit(&mut browser, &base, &place);
        assert_eq!(browser.evaluate(WORDS), words, "{name}");
    }
    visit(&mut browser, &base, "#ranking");
    let first = browser.evaluate(WORDS);
    choose(&mut browser, "Figure", "consistency.longest-write");
    browser.press(".kinds [data-key=\"kind-measured\"]");
    browser.wait_for("document.querySelectorAll('.ranks .measured').length > 0");
    browser.press(".ranks li:nth-child(2) .pin");
    browser.wait_for("document.querySelectorAll('.is-marked').length > 0");
    let address = browser.evaluate("location.href");
    let (rows, words) = (browser.evaluate(ROWS), browser.evaluate(WORDS));
    browser.go(address.as_str().unwrap());
    browser.wait_for(SHOWN);
    assert_eq!((browser.evaluate(ROWS), browser.evaluate(WORDS)), (rows, words), "{address}");
    visit(&mut browser, &base, "#ranking");
    choose(&mut browser, "Figure", "consistency.fresh");
    browser.evaluate("history.back()");
    browser.wait_for(&format!("{SHOWN} && {WORDS} === {first}"));
    browser.assert_no_complaints();
}

/// Chooses a value of a select by its label, as a keyboard does.
fn choose(browser: &mut Browser, label: &str, value: &str) {
    let select = format!(
        "[...document.querySelectorAll('main label')].find(one => \
         one.textContent.startsWith('{label}')).querySelector('select')"
    );
    browser.evaluate(&format!(
        "(() => {{ const select = {select}; select.value = '{value}'; \
         select.dispatchEvent(new Event('change')); }})()"
    ));
    browser.wait_for(&format!("{SHOWN} && location.hash.includes('{value}')"));
}

#[test]
fn what_is_not_there_is_said_to_be_missing() {
    let Some((mut browser, dir)) = browser() else { return };
    let bench = bench(DRIVES, SEEDS);
    let base = exported(&bench, dir.path());
    let missing = [
        ("#drive/nobody", "No such drive"),
        ("#compare?drives=nobody,intel-model-1", "No such drive"),
        ("#ranking?figure=nothing", "No such figure"),
        ("#ranking?conditions=never", "no results under these conditions"),
        ("#scatter?x=nothing", "No such figure"),
        ("#table?test=nothing", "No such test"),
        ("#nowhere", "No such page"),
        ("#drive/%E0%A4%A", "No such drive"),
    ];
    for (place, words) in missing {
        visit(&mut browser, &base, place);
        let said = browser.evaluate(WORDS);
        assert!(said.as_str().unwrap().contains(words), "{place}: {said}");
    }
    visit(&mut browser, &base, "#ranking");
    assert!(browser.evaluate(ROWS).as_array().unwrap().len() > 5, "and all else goes on");
    browser.assert_no_complaints();
}

#[test]
fn figures_of_a_drive_are_those_of_its_runs() {
    let Some((mut browser, dir)) = browser() else { return };
    let made = bench(DRIVES, SEEDS);
    let base = exported(&made, dir.path());
    check_runs(&mut browser, &made, &base, 4);
    // Every run that ships.
    if std::env::var_os("WRITECLIFF_NIGHTLY").is_some() {
        let shipped = Library::of(&[]).unwrap().bench().unwrap();
        let base = exported(&shipped, &dir.path().join("shipped"));
        check_runs(&mut browser, &shipped, &base, shipped.drives.len());
    }
    browser.assert_no_complaints();
}

/// Holds what the pages of the first drives show of each run against what it gave.
fn check_runs(browser: &mut Browser, bench: &Bench, base: &str, drives: usize) {
    for (at, drive) in bench.drives.iter().enumerate().take(drives) {
        visit(browser, base, &format!("#drive/{}", drive.id));
        let tiles = browser.evaluate("document.querySelectorAll('.tiles li').length");
        assert!(tiles.as_u64() >= Some(4) || base.contains("shipped"), "{}: {tiles}", drive.name);
        let figures = "Object.fromEntries([...document.querySelectorAll('details[id^=\"run-\"]')].map(run => \
            [run.id.slice(4), Object.fromEntries([...run.querySelectorAll('[data-figure]')].map(one => \
                [one.dataset.figure, Number(one.dataset.value)]))]))";
        let runs = bench.runs.iter().filter(|run| run.drive == at);
        let named = |run: &writecliff_bench::Run| {
            let figures = run.figures.iter();
            figures
                .map(|(metric, value)| (bench.metrics[*metric].id.clone(), json!(value)))
                .collect()
        };
        let expected: serde_json::Map<String, Value> =
            runs.map(|run| (run.id.clone(), Value::Object(named(run)))).collect();
        let shown = numbers(browser.evaluate(figures));
        assert_eq!(shown, Value::Object(expected), "{}", drive.name);
    }
}

#[test]
fn compared_drives_have_the_better_figure_marked_and_never_across_conditions() {
    let Some((mut browser, dir)) = browser() else { return };
    let bench = bench(DRIVES, SEEDS);
    let base = exported(&bench, dir.path());
    // For each row: which of the two has the star, and why neither.
    let stars = "Object.fromEntries([...document.querySelectorAll('.test .table')].flatMap(table => \
        [...table.querySelectorAll('tbody tr')].map(row => { \
        const kind = table.querySelector('h3').textContent.split(':')[0].toLowerCase(); \
        const figure = new URLSearchParams(row.querySelector('a').hash.split('?')[1]).get('figure'); \
        const best = [...row.querySelectorAll('td')].findIndex(cell => cell.classList.contains('best')); \
        return [`${kind} ${figure}`, [best, row.querySelector('th small')?.textContent ?? null]]; })))";
    let mut seen = std::collections::BTreeSet::new();
    for (one, other) in [(0, 6), (0, 1), (2, 4), (3, 9), (7, 8), (10, 12)] {
        let ids = [one, other].map(|at| made::drive(at).id);
        visit(&mut browser, &base, &format!("#compare?drives={}", ids.join(",")));
        let shown = browser.evaluate(stars);
        let chosen = [&ids[0], &ids[1]].map(|id| bench.find(id).unwrap());
        let comparison = Comparison::of(&bench, &chosen[0], &chosen[1]).unwrap();
        let expected: serde_json::Map<String, Value> = comparison
            .rows
            .iter()
            .map(|row| (format!("{} {}", row.kind.word(), row.metric), starred(row)))
            .filter(|(row, _)| shown.get(row).is_some())
            .collect();
        assert_eq!(shown, Value::Object(expected.clone()), "{ids:?}");
        seen.extend(expected.values().map(ToString::to_string));
    }
    assert_eq!(seen.len(), 4, "each of the two, and both reasons for neither: {seen:?}");
    let [one, two] = [0, 6].map(|at| made::drive(at).id);
    visit(&mut browser, &base, &format!("#compare?drives={one},{two}"));
    let axes_of = "[...document.querySelectorAll('.plots .drawing')].map(one => one.querySelector('.tick').textContent)";
    let axes = browser.evaluate(axes_of);
    assert_eq!(axes[0], axes[1], "pictures have one axis");
    // The last part alone, on axes of its own that are linear; the address holds the choice.
    browser.evaluate("document.querySelector('[data-key=\"part-steady\"]').click()");
    browser.wait_for(&format!("{SHOWN} && location.hash.includes('part=steady')"));
    let titles = "[...document.querySelectorAll('.plots .drawing')].map(one => \
        [...one.querySelectorAll('.title')].map(title => title.textContent))";
    browser.wait_for(&format!("({titles})[1]?.[1] === 'IOPS'"));
    let last = browser.evaluate(axes_of);
    assert_eq!(last[0], last[1], "pictures have one axis");
    assert_ne!(last[0], axes[0], "and not that of the whole run");
    browser.evaluate("location.hash += '&mixed=1'");
    browser.wait_for(&format!("{SHOWN} && {WORDS}.includes('Across')"));
    // One of them was measured and simulated, the other simulated alone: never a star between kinds.
    let [one, other] = [made::drive(3).id, made::drive(4).id];
    visit(&mut browser, &base, &format!("#compare?drives={one},{other}&mixed=1"));
    let mixed = "[...document.querySelectorAll('.test h3')].filter(head => /nothing is ranked/.test(head.textContent)) \
        .every(head => !head.parentElement.querySelector('.star'))";
    assert_eq!(browser.evaluate(mixed), true);
    browser.assert_no_complaints();
}

/// What the page shows where the library says this.
fn starred(row: &Row) -> Value {
    let at = match row.better {
        Some(Better::A) => 0,
        Some(Better::B) => 1,
        None => -1,
    };
    let why = match row.undecided {
        Some(Undecided::NotToldApart) => Some("not told apart"),
        Some(Undecided::Doubted) => Some("the best has doubts"),
        Some(Undecided::Equal | Undecided::NotJudged) | None => None,
    };
    json!([at, why])
}

#[test]
fn drives_that_are_not_told_apart_share_their_places_and_doubted_ones_have_none() {
    let Some((mut browser, dir)) = browser() else { return };
    let bench = bench(DRIVES, SEEDS);
    let base = exported(&bench, dir.path());
    visit(&mut browser, &base, "#ranking?figure=consistency.steady-mean");
    let places = "[...document.querySelectorAll('.ranks li')].map(row => \
        [row.dataset.drive, row.dataset.place, row.querySelector('.place').textContent])";
    let shown: Vec<(String, String, String)> =
        serde_json::from_value(browser.evaluate(places)).unwrap();
    let metric = bench.metrics.iter().position(|one| one.id == "consistency.steady-mean").unwrap();
    let value_of = |id: &str| {
        let is_it = |value: &&writecliff_bench::Value| {
            let conditions = &bench.conditions[value.conditions];
            value.metric == metric
                && bench.drives[value.drive].id == id
                && conditions.kind == Kind::Simulated
                && conditions.standard
        };
        bench.values.iter().find(is_it).unwrap()
    };
    let (mut ranked, mut shared) = (Vec::new(), 0);
    for (id, place, said) in &shown {
        assert_eq!(place, said);
        let value = value_of(id);
        assert_eq!(place == "–", value.doubted, "{id}: {place}");
        if !value.doubted {
            let (first, last) = place.split_once('–').unwrap_or((place, place));
            let place: [usize; 2] = [first, last].map(|one| one.parse().unwrap());
            shared += usize::from(place[0] != place[1]);
            ranked.push((value, place));
        }
    }
    assert!(shared > 2 && shared < ranked.len(), "{shown:?}");
    for (at, (better, place)) in ranked.iter().enumerate() {
        assert!(place[0] <= at + 1 && at < place[1], "{shown:?}");
        for (worse, other) in &ranked[at + 1..] {
            let overlap = better.lowest <= worse.highest;
            assert!(!overlap || place[1] >= other[0], "{better:?} {place:?}, {worse:?} {other:?}");
        }
    }
    let words = browser.evaluate(WORDS);
    assert!(words.as_str().unwrap().contains("are not told apart"), "{words}");
    // Wherever else such a figure stands, its doubt stands beside it.
    let (doubted, _, _) = shown.iter().find(|(_, place, _)| place == "–").unwrap();
    let (sure, _, _) = shown.iter().find(|(_, place, _)| place.starts_with('1')).unwrap();
    for (id, marked) in [(doubted, true), (sure, false)] {
        visit(&mut browser, &base, &format!("#drive/{id}"));
        let tile = "document.querySelector('.tiles .doubted') !== null";
        assert_eq!(browser.evaluate(tile), marked, "{id}");
    }
    visit(&mut browser, &base, "#table?test=consistency&rows=all");
    let line = format!("document.querySelector('tr[data-drive=\"{doubted}\"] .doubted') !== null");
    assert_eq!(browser.evaluate(&line), true, "{doubted}");
    browser.assert_no_complaints();
}

#[test]
fn everything_can_be_done_with_a_keyboard() {
    let Some((mut browser, dir)) = browser() else { return };
    let base = exported(&bench(DRIVES, SEEDS), dir.path());
    visit(&mut browser, &base, "#ranking");
    // Every control comes by Tab, in the order of the page, and shows that it has the focus.
    let mut seen = Vec::new();
    for _ in 0..18 {
        tab(&mut browser);
        let at = "(({ tagName, className, textContent }) => [tagName, className, textContent.slice(0, 20)].join(' '))(document.activeElement)";
        seen.push(browser.evaluate(at).as_str().unwrap().to_owned());
        let is_shown = "getComputedStyle(document.activeElement).outlineStyle !== 'none'";
        assert_eq!(browser.evaluate(is_shown), true, "{seen:?}");
    }
    let at = |what: &str| {
        seen.iter()
            .position(|one| one.contains(what))
            .unwrap_or_else(|| panic!("{what}: {seen:#?}"))
    };
    assert!(at("skip") < at("Ranking") && at("Ranking") < at("SELECT"), "{seen:#?}");
    assert!(at("SELECT") < at("INPUT") && at("INPUT") < at("pin"), "{seen:#?}");
    // Two drives are marked and compared.
    for row in [1, 2] {
        browser.press(&format!(".ranks li:nth-child({row}) .pin"));
        browser.wait_for(&format!(
            "document.querySelectorAll('.pin[aria-pressed=\"true\"]').length >= {row}"
        ));
        assert_eq!(
            browser.evaluate("document.activeElement.classList.contains('pin')"),
            true,
            "the focus stays"
        );
    }
    browser.press(".marked a");
    browser.wait_for(&format!("{SHOWN} && {WORDS}.startsWith('2 drives compared')"));
    assert_eq!(
        browser.evaluate("document.activeElement.tagName"),
        "H1",
        "the new page is where one goes on"
    );
    // Points of a picture are read by arrow keys.
    visit(&mut browser, &base, "#scatter");
    browser.wait_for("document.querySelectorAll('.dot').length > 5");
    browser.evaluate("document.querySelector('.chart').focus()");
    browser.key("ArrowRight");
    browser.wait_for("document.querySelector('#told').textContent.includes('Price per GB')");
    browser.key("Enter");
    browser.wait_for(&format!("{SHOWN} && location.hash.startsWith('#drive/')"));
    browser.assert_no_complaints();
}

fn tab(browser: &mut Browser) {
    browser.key_of("Tab", 9);
}

#[test]
fn names_that_mean_harm_are_text_everywhere() {
    let Some((mut browser, dir)) = browser() else { return };
    let bench = bench(DRIVES, SEEDS);
    let base = exported(&bench, dir.path());
    let id = made::drive(3).id;
    let places = [
        "#ranking".to_owned(),
        format!("#drive/{id}"),
        format!("#compare?drives={id},{}", made::drive(6).id),
        format!("#scatter?mark={id}"),
        "#table".to_owned(),
        "#drives".to_owned(),
        "#drive/<img src=x onerror=alert(1)>".to_owned(),
    ];
    for place in places {
        visit(&mut browser, &base, &place);
        assert_eq!(browser.evaluate("document.querySelectorAll('img').length"), 0, "{place}");
        let text = browser.evaluate("document.body.textContent + document.title");
        assert!(text.as_str().unwrap().contains("<img src=x onerror="), "{place}");
    }
    // Neither do they become markup in Markdown nor a formula in a spreadsheet.
    visit(&mut browser, &base, "#table");
    browser.evaluate(
        "document.execCommand = () => true; window.copied = ''; \
         navigator.clipboard.writeText = async (text) => { window.copied = text; }; \
         URL.createObjectURL = (blob) => { blob.text().then((text) => { window.saved = text; }); return 'about:blank#saved'; }",
    );
    browser.press("[data-key=\"markdown\"]");
    browser.wait_for("window.copied.includes('onerror')");
    let markdown = browser.evaluate("window.copied");
    assert!(
        markdown.as_str().unwrap().contains("\\<img src=x onerror=")
            && markdown.as_str().unwrap().contains("\\|=1+1"),
        "{markdown}"
    );
    browser.assert_no_complaints();
}

#[test]
fn no_serious_barrier_on_any_page_in_any_colour_and_width() {
    let Some((mut browser, dir)) = browser() else { return };
    let Some(axe) = axe::source() else { return };
    let bench = bench(DRIVES, SEEDS);
    let base = exported(&bench, dir.path());
    for (name, place) in places(&bench) {
        for (width, is_dark) in [(1440, false), (390, true)] {
            browser.resize(width);
            browser.media("screen", is_dark);
            visit(&mut browser, &base, &place);
            let wide = "document.documentElement.scrollWidth > window.innerWidth";
            assert_eq!(browser.evaluate(wide), false, "{name} is wider than {width}");
            let found = axe::violations(&mut browser, &axe);
            assert_eq!(found, json!([]), "{name}, {width} px, dark: {is_dark}");
        }
    }
    browser.assert_no_complaints();
}

#[test]
fn a_run_that_ends_appears_without_loading_the_page_again() {
    let Some((mut browser, _)) = browser() else { return };
    let served = Served::start(bench(3, 1));
    visit(&mut browser, &served.base(), "#ranking");
    browser.evaluate("window.kept = true");
    assert_eq!(browser.evaluate(&format!("{ROWS}.length")), 3);
    served.show(bench(4, 1));
    browser.wait_for(&format!("{ROWS}.length === 4"));
    assert_eq!(browser.evaluate("window.kept"), true);
    browser.assert_no_complaints();
}

#[test]
fn the_first_page_of_five_hundred_drives_is_small() {
    let dir = tempfile::tempdir().unwrap();
    export(&bench(500, 3), &Cliffs, dir.path()).unwrap();
    let size = |path: PathBuf| std::fs::metadata(path).unwrap().len();
    let names = |folder: &Path| -> Vec<PathBuf> {
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect()
    };
    let is_first = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_str().unwrap();
        let begins = ["index", "bench-", "figures-consistency.steady-mean"];
        path.is_file() && begins.iter().any(|begin| name.starts_with(begin))
    };
    let all = names(dir.path()).into_iter().chain(names(&dir.path().join("data")));
    let bytes: u64 = all.filter(is_first).map(size).sum();
    assert!(bytes < 500_000, "{bytes} bytes");
}
