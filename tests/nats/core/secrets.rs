//! No secret shows: not in what is printed, not in errors, not in logs of ours or of the client's.

use std::{
    env,
    fmt::Debug,
    io::{self, Write},
    process::Command,
    sync::{Arc, Mutex},
};

use tramline::{
    Bus, Nats, NatsOptions,
    contract::{Backend, Session},
    source,
};

use super::support::{PATIENCE, chain, nats, on_both_with, publish, quick, until};
use crate::{
    proxy::Proxy,
    server::{Server, Setup},
};

const PASSWORD: &str = "pa55w0rdOfTheService";
const TOKEN: &str = "t0kenOfTheService";
const WRONG: &str = "wr0ngOfTheService";

/// What was logged, or shown otherwise.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Log {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }

    fn add(&self, text: &str) {
        self.0.lock().unwrap().extend_from_slice(text.as_bytes());
    }

    fn debug(&self, value: &impl Debug) {
        self.add(&format!("{value:?}\n{value:#?}\n"));
    }

    fn error(&self, error: &(impl std::error::Error + 'static)) {
        self.debug(error);
        self.add(&format!("{}\n", chain(error)));
    }
}

async fn use_it(backend: Nats, proxy: &Proxy, shown: &Log) {
    shown.debug(&backend);
    match backend.open().await {
        Ok(session) => {
            shown.debug(&session);
            proxy.cut();
            until("it is down", || async { publish(&session, "a", 0).await.is_err() }).await;
            shown.error(&publish(&session, "a", 0).await.unwrap_err());
            proxy.heal();
            until("it is up", || async { publish(&session, "a", 0).await.is_ok() }).await;
            session.close().await.unwrap();
        }
        Err(error) => shown.error(&error),
    }
    let bus = Bus::builder(backend, source!("urn:example:test")).build().unwrap();
    shown.debug(&bus);
    match bus.start_within(PATIENCE).await {
        Ok(bus) => drop(bus.stop(PATIENCE).await),
        Err(not_started) => shown.error(&not_started),
    }
}

/// Connects in every way that works, and in every way that does not.
async fn use_all(server: &Server, good: &[NatsOptions], shown: &Log) {
    let proxy = Proxy::to(server).await;
    let wrong = [quick().user_and_password("svc", WRONG), quick().token(WRONG), quick().nkey_seed(WRONG)];
    for options in good.iter().chain(&wrong) {
        shown.debug(options);
        use_it(nats(proxy.url()).options(options.clone()), &proxy, shown).await;
    }
    for who in [format!("svc:{PASSWORD}"), TOKEN.to_owned(), format!("svc:{WRONG}"), WRONG.to_owned()] {
        use_it(nats(proxy.url().replace("://", &format!("://{who}@"))), &proxy, shown).await;
    }
    // Not to be parsed.
    for url in [format!("ftp://svc:{PASSWORD}@one"), format!("nats://svc:{PASSWORD}@one:port")] {
        use_it(nats(url), &proxy, shown).await;
    }
}

/// Says that this process is the one in which nothing else logs: elsewhere `tracing` may have found out, before this test has
/// said that it listens, that nobody does.
const CHILD: &str = "TRAMLINE_TEST_SECRETS";

#[tokio::test]
async fn no_secret_shows_in_anything_that_is_printed_or_logged() {
    if env::var_os(CHILD).is_none() {
        let test = "core::secrets::no_secret_shows_in_anything_that_is_printed_or_logged";
        let child = Command::new(env::current_exe().unwrap()).args(["--exact", test]).env(CHILD, "1").output().unwrap();
        let text = String::from_utf8_lossy(&child.stdout);
        assert!(child.status.success() && text.contains("1 passed"), "{text}");
        return;
    }
    let log = Log::default();
    let writer = log.clone();
    let subscriber =
        tracing_subscriber::fmt().with_max_level(tracing::Level::TRACE).with_writer(move || writer.clone());
    let _default = tracing::subscriber::set_default(subscriber.finish());
    let shown = Log::default();
    let pair = nkeys::KeyPair::new_user();
    let seed = pair.seed().unwrap();
    let users = |setup: Setup| setup.user("svc", PASSWORD).nkey(&pair.public_key());
    let token = |setup: Setup| setup.token(TOKEN);
    let by_name = [quick().user_and_password("svc", PASSWORD), quick().nkey_seed(seed.clone())];
    let by_token = [quick().token(TOKEN)];
    on_both_with(users, async |server| use_all(&server, &by_name, &shown).await).await;
    on_both_with(token, async |server| use_all(&server, &by_token, &shown).await).await;
    let (logged, shown) = (log.text(), shown.text());
    assert!(logged.contains("the link to the NATS server is down"), "the log is seen");
    assert!(logged.contains("attempting connection"), "and the client's");
    assert!(shown.contains("(secret)"), "what has a secret was shown");
    for (what, text) in [("shown", &shown), ("logged", &logged)] {
        for secret in [PASSWORD, TOKEN, WRONG, seed.as_str()] {
            let line = text.lines().find(|line| line.contains(secret));
            assert!(line.is_none(), "{what}: {}", line.unwrap_or_default());
        }
    }
}
