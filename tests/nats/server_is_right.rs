//! The servers and the proxy of these tests do what the tests build on.

use std::{
    env,
    future::{Future, IntoFuture, pending},
    io::{BufRead, BufReader},
    net::Ipv4Addr,
    path::Path,
    process::{Command, Stdio},
    time::Duration,
};

use async_nats::{Client, ConnectOptions, jetstream};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt},
    net::TcpStream,
    time::{sleep, timeout},
};

use crate::{
    operator::Operator,
    proxy::Proxy,
    server::{Server, Setup, Version},
};

const PATIENCE: Duration = Duration::from_secs(20);

async fn soon<T>(what: impl IntoFuture<Output = T>) -> T {
    timeout(PATIENCE, what).await.expect("it happens soon")
}

async fn listens(port: u16) -> bool {
    TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await.is_ok()
}

/// A bare connection, which does nothing by itself.
struct Bare(tokio::io::BufReader<TcpStream>);

impl Bare {
    async fn to(url: &str) -> Self {
        let stream = TcpStream::connect(url.strip_prefix("nats://").unwrap()).await.unwrap();
        let mut bare = Self(tokio::io::BufReader::new(stream));
        assert!(bare.line().await.unwrap().starts_with("INFO "));
        bare.0.write_all(b"CONNECT {\"verbose\":false}\r\n").await.unwrap();
        bare.ping().await;
        assert_eq!(bare.line().await.unwrap(), "PONG\r\n");
        bare
    }

    async fn ping(&mut self) {
        self.0.write_all(b"PING\r\n").await.unwrap();
    }

    /// The next line, an empty one at the end, or that the connection was reset.
    async fn line(&mut self) -> std::io::Result<String> {
        let mut line = String::new();
        soon(self.0.read_line(&mut line)).await?;
        Ok(line)
    }
}

async fn for_each_version<F: Future<Output = ()>>(test: impl Fn(Version) -> F) {
    for version in Version::ALL {
        test(version).await;
    }
}

/// The messages of a stream of files that is made if it is not there, with one more.
async fn one_more(client: Client) -> u64 {
    let context = jetstream::new(client);
    let config = jetstream::stream::Config { name: "S".into(), subjects: vec!["s".into()], ..Default::default() };
    let mut stream = context.get_or_create_stream(config).await.unwrap();
    context.publish("s", "x".into()).await.unwrap().await.unwrap();
    stream.info().await.unwrap().state.messages
}

#[tokio::test]
async fn a_server_keeps_its_port_and_its_storage_over_a_stop_and_a_crash() {
    for_each_version(async |version| {
        let mut server = Server::start(version).await;
        let url = server.url();
        assert_eq!(one_more(async_nats::connect(&url).await.unwrap()).await, 1);

        server.stop().await;
        assert!(!listens(server.port()).await, "a stopped server does not listen");
        server.restart().await;
        assert_eq!(one_more(async_nats::connect(&url).await.unwrap()).await, 2);

        server.kill().await;
        assert!(!listens(server.port()).await, "a killed server does not listen");
        server.restart().await;
        assert_eq!(one_more(async_nats::connect(&url).await.unwrap()).await, 3);

        server.restart().await;
        assert_eq!(one_more(async_nats::connect(&url).await.unwrap()).await, 4);
        assert!(server.monitor("jsz").await.contains("\"messages\": 4"));
    })
    .await;
}

#[tokio::test]
async fn servers_run_side_by_side_and_a_dropped_one_leaves_nothing() {
    let mut all = Vec::new();
    for at in 0..6 {
        all.push(Server::start(Version::ALL[at % 2]).await);
    }
    let ports: Vec<_> = all.iter().map(Server::port).collect();
    let folders: Vec<_> = all.iter().map(|server| server.folder().to_owned()).collect();
    for (port, folder) in ports.iter().zip(&folders) {
        assert!(listens(*port).await && folder.exists());
    }
    // One of them by a panic, as that of a failing test.
    let last = all.pop().unwrap();
    let failing = tokio::spawn(async move {
        let _server = last;
        panic!("on purpose");
    });
    assert!(failing.await.unwrap_err().is_panic());
    drop(all);
    for (port, folder) in ports.iter().zip(&folders) {
        assert!(!listens(*port).await && !folder.exists());
    }
}

#[tokio::test]
async fn a_server_goes_with_a_process_that_is_killed() {
    let mut process = Command::new(env::current_exe().unwrap())
        .args(["--ignored", "--exact", "--nocapture", "server_is_right::is_killed_with_a_server_in_hand"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(process.stdout.take().unwrap()).lines();
    let told = lines.map(Result::unwrap).find(|line| line.contains("server: ")).expect("it tells about its server");
    let (_, told) = told.split_once("server: ").unwrap();
    let (port, folder) = told.split_once(' ').unwrap();
    let port = port.parse().unwrap();
    assert!(listens(port).await && Path::new(folder).exists());

    process.kill().unwrap();
    process.wait().unwrap();
    let gone = async {
        while listens(port).await || Path::new(folder).exists() {
            sleep(Duration::from_millis(5)).await;
        }
    };
    soon(gone).await;
}

#[tokio::test]
#[ignore = "the test before runs it as a process of its own"]
async fn is_killed_with_a_server_in_hand() {
    let server = Server::start(Version::V2_15).await;
    println!("server: {} {}", server.port(), server.folder().display());
    pending::<()>().await;
}

#[tokio::test]
async fn who_may_connect_and_what_they_may_do_is_as_set_up() {
    let key = nkeys::KeyPair::new_user();
    let (seed, public) = (&key.seed().unwrap(), &key.public_key());
    for_each_version(async |version| {
        let users = Setup::new(version)
            .user("all", "1")
            .user_who_may("few", "2", &["a.>", "$JS.API.INFO"], &["b", "_INBOX.>"])
            .nkey(public);
        let users = Server::start(users).await;
        let url = users.url();
        let connect = |options: ConnectOptions| options.connect(url.clone());
        assert!(connect(ConnectOptions::new()).await.is_err());
        assert!(connect(ConnectOptions::with_user_and_password("all".into(), "2".into())).await.is_err());
        connect(ConnectOptions::with_user_and_password("all".into(), "1".into())).await.unwrap();
        connect(ConnectOptions::with_nkey(seed.clone())).await.unwrap();

        let (heard, mut hears) = tokio::sync::mpsc::channel(9);
        let few = ConnectOptions::with_user_and_password("few".into(), "2".into());
        let few = connect(few.event_callback(move |event| {
            let heard = heard.clone();
            async move { heard.send(event.to_string()).await.unwrap() }
        }));
        let few = few.await.unwrap();
        few.publish("a.b", "".into()).await.unwrap();
        few.publish("c", "".into()).await.unwrap();
        let refused = async {
            loop {
                let event = hears.recv().await.unwrap();
                if event.to_lowercase().contains("permissions violation for publish to \"c\"") {
                    break;
                }
                assert!(!event.contains("a.b"), "{event}");
            }
        };
        soon(refused).await;

        let token = Server::start(Setup::new(version).token("secret")).await;
        assert!(async_nats::connect(token.url()).await.is_err());
        ConnectOptions::with_token("secret".into()).connect(token.url()).await.unwrap();

        let operator = Operator::new();
        let signed = Server::start(Setup::new(version).operator(&operator)).await;
        assert!(async_nats::connect(signed.url()).await.is_err());
        let stranger = ConnectOptions::with_credentials(Operator::new().credentials()).unwrap();
        assert!(stranger.connect(signed.url()).await.is_err());
        let user = ConnectOptions::with_credentials(operator.credentials()).unwrap();
        user.connect(signed.url()).await.unwrap();
    })
    .await;
}

#[tokio::test]
async fn how_much_a_server_takes_is_as_set_up() {
    for_each_version(async |version| {
        let setup = Setup::new(version).max_payload(2_000).max_file(100_000).max_memory(100_000);
        let server = Server::start(setup).await;
        let client = async_nats::connect(server.url()).await.unwrap();
        assert_eq!(client.server_info().max_payload, 2_000);
        let context = jetstream::new(client);
        let storages = [jetstream::stream::StorageType::File, jetstream::stream::StorageType::Memory];
        for (name, storage) in ["F", "M"].into_iter().zip(storages) {
            let config = jetstream::stream::Config {
                name: name.into(),
                subjects: vec![name.into()],
                storage,
                ..Default::default()
            };
            context.create_stream(config).await.unwrap();
            let mut taken = 0;
            while context.publish(name, vec![0; 1_000].into()).await.unwrap().await.is_ok() {
                taken += 1;
                assert!(taken < 200, "there is a limit");
            }
            assert!(taken > 10, "{name} took {taken}");
        }

        let plain = Server::start(Setup::new(version).without_jetstream()).await;
        let context = jetstream::new(async_nats::connect(plain.url()).await.unwrap());
        assert!(context.query_account().await.is_err());
    })
    .await;
}

#[tokio::test]
async fn a_link_that_is_cut_resets_its_connections_and_takes_none_until_it_is_healed() {
    let server = Server::start(Version::V2_15).await;
    let proxy = Proxy::to(&server).await;
    let mut first = Bare::to(&proxy.url()).await;
    proxy.cut();
    assert_eq!(first.line().await.unwrap_err().kind(), std::io::ErrorKind::ConnectionReset);
    let second = TcpStream::connect(proxy.url().strip_prefix("nats://").unwrap()).await.unwrap();
    assert!(Bare(tokio::io::BufReader::new(second)).line().await.is_err(), "it is reset, not served");
    proxy.heal();
    let mut third = Bare::to(&proxy.url()).await;

    // Healed before anybody could look.
    proxy.cut();
    proxy.heal();
    assert_eq!(third.line().await.unwrap_err().kind(), std::io::ErrorKind::ConnectionReset);
    Bare::to(&proxy.url()).await;
}

#[tokio::test]
async fn a_link_that_is_held_hands_nothing_on_until_it_is_healed() {
    let server = Server::start(Version::V2_15).await;
    let proxy = Proxy::to(&server).await;
    let mut bare = Bare::to(&proxy.url()).await;
    proxy.hold();
    bare.ping().await;
    // Nothing else shows that nothing comes.
    assert!(timeout(Duration::from_millis(200), bare.0.fill_buf()).await.is_err(), "held, and answered");
    proxy.heal();
    assert_eq!(bare.line().await.unwrap(), "PONG\r\n");
}

#[tokio::test]
async fn a_link_ends_with_its_proxy() {
    let server = Server::start(Version::V2_15).await;
    let proxy = Proxy::to(&server).await;
    let mut bare = Bare::to(&proxy.url()).await;
    drop(proxy);
    assert!(bare.line().await.is_ok_and(|line| line.is_empty()), "closed");
}
