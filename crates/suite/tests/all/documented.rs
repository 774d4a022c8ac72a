//! Every test has its page, and its row in the two lists that lead to it.

use std::fs;
use std::path::Path;

use writecliff_suite::TESTS;

#[test]
fn every_test_has_its_page_and_is_found_from_the_lists() {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let read = |file: &str| fs::read_to_string(workspace.join(file)).unwrap();
    let (readme, index) = (read("README.md"), read("docs/methodology.md"));
    for test in TESTS {
        let page = format!("methodology/{}.md", test.name);
        let text = read(&format!("docs/{page}"));
        assert!(text.starts_with("# ") && text.contains("**Question.**"), "{page}");
        assert!(index.contains(&format!("]({page})")), "docs/methodology.md has no link to {page}");
        let row = format!("| `{}` | ", test.name);
        assert!(readme.contains(&row), "README.md has no row that begins with {row}");
    }
}
