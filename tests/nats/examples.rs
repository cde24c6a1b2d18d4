//! The examples that take a server, run as a user runs them.

use std::process::{Command, Output};

use async_nats::jetstream;

use crate::server::{Server, Version};

fn swap_the_backend(arguments: &[&str], variables: &[(&str, &str)]) -> (bool, String, String) {
    let mut command = Command::new(env!("CARGO"));
    command.args(["run", "--quiet", "--offline", "--features", "jetstream", "--example", "swap_the_backend", "--"]);
    command.args(arguments).current_dir(env!("CARGO_MANIFEST_DIR"));
    for variable in ["NATS_URL", "NATS_USER", "NATS_PASSWORD", "NATS_TOKEN", "NATS_NKEY_SEED", "NATS_CREDS"] {
        command.env_remove(variable);
    }
    let Output { status, stdout, stderr } = command.envs(variables.iter().copied()).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (status.success(), text(stdout), text(stderr))
}

/// What the service prints on every backend that delivers at least once.
fn has_billed(printed: &str) {
    for line in ["dashboard: shop.order.placed, tea", "tea, attempt 1", "coffee, attempt 2", "saffron, attempt 1"] {
        assert!(printed.contains(line), "no `{line}` in\n{printed}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn one_service_runs_on_three_backends_and_says_what_is_missing() {
    let (is_well, printed, said) = swap_the_backend(&["memory"], &[]);
    assert!(is_well, "{printed}\n{said}");
    has_billed(&printed);

    for version in Version::ALL {
        let mut server = Server::start(version).await;
        let url = server.url();
        let (is_well, printed, said) = swap_the_backend(&["nats", &url], &[]);
        assert!(is_well, "{printed}\n{said}");
        assert!(printed.contains("dashboard: shop.order.placed, coffee"), "{printed}");
        assert!(!printed.contains("billing"), "it is not wired there: {printed}");

        let (is_well, _, said) = swap_the_backend(&["jetstream", &url], &[]);
        assert!(!is_well && said.contains("create it with `nats stream add SHOP"), "{said}");
        let bare = jetstream::new(async_nats::connect(&url).await.unwrap());
        let (name, subjects) = ("SHOP".to_owned(), vec!["shop.>".to_owned()]);
        bare.create_stream(jetstream::stream::Config { name, subjects, ..Default::default() }).await.unwrap();
        for (arguments, variables) in [(&["jetstream", &*url][..], vec![]), (&["jetstream"], vec![("NATS_URL", &*url)])]
        {
            let (is_well, printed, said) = swap_the_backend(arguments, &variables);
            assert!(is_well, "{printed}\n{said}");
            has_billed(&printed);
        }

        server.stop().await;
        for backend in ["nats", "jetstream"] {
            let (is_well, _, said) = swap_the_backend(&[backend, &url], &[]);
            assert!(!is_well && said.contains(&format!("cannot connect to {url}")), "{said}");
        }
    }
    let (is_well, _, said) = swap_the_backend(&["carrier-pigeon"], &[]);
    assert!(!is_well && said.contains("it is `memory`, `nats` or `jetstream`"), "{said}");
}

/// The example's text quotes the compiler.
#[test]
fn what_the_compiler_says_of_the_fourth_wiring_is_what_it_says() {
    let example = include_str!("../../examples/swap_the_backend.rs");
    let pinned = include_str!("../../ui-tests/capability/at_least_once_does_not_run_on_core_nats.stderr");
    let quoted: Vec<_> = example.lines().filter_map(|line| line.strip_prefix("//! ")).collect();
    for line in pinned.lines().filter(|line| line.starts_with("error") || line.contains("= note: write")) {
        assert!(quoted.contains(&line), "the example does not quote: {line}");
    }
}
