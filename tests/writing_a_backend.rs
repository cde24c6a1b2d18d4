//! The chapter for authors of backends says what the example does, and leaves no row out.

use tramline::conformance::ROWS;

const CHAPTER: &str = include_str!("../src/guide/writing_a_backend.md");
const EXAMPLE: &str = include_str!("../examples/own_backend.rs");

#[test]
fn its_code_is_in_the_example_that_is_compiled() {
    let example = dense(EXAMPLE);
    let blocks: Vec<&str> =
        CHAPTER.split("```rust,ignore\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert!(blocks.len() > 4, "the chapter has code");
    for block in blocks {
        assert!(example.contains(&dense(block)), "this is not in the example:\n{block}");
    }
}

#[test]
fn every_row_has_its_obligation_and_no_row_is_made_up() {
    let place = |name: &str| ROWS.iter().position(|row| row.name == name);
    let mut guarded = vec![false; ROWS.len()];
    // `a` to `b` is all that stands between them in the contract.
    for cell in CHAPTER.split(['\n', ',', '|']) {
        let names: Vec<usize> = cell.split('`').skip(1).step_by(2).filter_map(place).collect();
        match *names {
            [from, to] if cell.contains("` to `") => guarded[from..=to].fill(true),
            _ => names.into_iter().for_each(|row| guarded[row] = true),
        }
    }
    let missing: Vec<_> = ROWS.iter().zip(guarded).filter(|(_, guarded)| !guarded).map(|(row, _)| row.name).collect();
    assert!(missing.is_empty(), "the chapter does not say which obligation is guarded by {missing:?}");

    let words =
        CHAPTER.split('`').skip(1).step_by(2).filter(|word| word.contains('_') && !word.contains(['(', '/', ':']));
    let made_up: Vec<_> = words.filter(|word| place(word).is_none() && *word != "max_deliver").collect();
    assert!(made_up.is_empty(), "no rows: {made_up:?}");
}

/// Without white space, which differs where the example is indented.
fn dense(text: &str) -> String {
    text.split_whitespace().collect()
}
