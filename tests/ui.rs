#[test]
fn cases() {
    let t = trybuild::TestCases::new();
    for f in ["capability", "settings", "handler", "lifecycle", "names", "sealed", "cascade"] {
        t.compile_fail(format!("ui-tests/{f}/*.rs"));
    }
}
