//! A server for a test: started, stopped, killed and started again in its place, and gone when the test is, however it ends.

use std::{
    fs,
    future::Future,
    io,
    net::{Ipv4Addr, TcpListener},
    path::{Path, PathBuf},
    process::{self, Child, Command, ExitStatus, Stdio},
    sync::atomic::{AtomicU16, Ordering},
    time::{Duration, Instant},
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::{sleep, timeout},
};

pub(crate) use crate::setup::{Setup, Version};

use crate::folder::Folder;

/// Far more than a server takes for anything, on a machine with much else to do.
const PATIENCE: Duration = Duration::from_secs(20);
/// How often a condition is looked at.
const PAUSE: Duration = Duration::from_millis(2);

/// A server on this machine. It keeps its ports and its storage for as long as this value lives.
///
/// May live in a `static`, for all tests of the process: a guard ends the server when the process is gone.
pub(crate) struct Server {
    setup: Setup,
    name: String,
    port: u16,
    monitor: u16,
    running: Option<Running>,
    // After the process, so that nobody writes there any more.
    folder: Folder,
}

impl Server {
    /// Starts a server of this version, or of this setup, on free ports. It answers when this returns.
    pub(crate) async fn start(setup: impl Into<Setup>) -> Self {
        let folder = Folder::new();
        let name = folder.path().file_name().unwrap().to_str().unwrap().to_owned();
        let mut server = Self { setup: setup.into(), name, port: 0, monitor: 0, running: None, folder };
        let begun = Instant::now();
        loop {
            (server.port, server.monitor) = (free_port(), free_port());
            match server.launch().await {
                Ok(()) => return server,
                // Somebody else was faster on one of the ports.
                Err(log) if log.contains("address already in use") && begun.elapsed() < PATIENCE => {}
                Err(log) => panic!("the server does not start:\n{log}"),
            }
        }
    }

    pub(crate) fn version(&self) -> Version {
        self.setup.version()
    }

    /// Where clients connect.
    pub(crate) fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// Where it keeps what it has.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// What the server says of itself in JSON, for `path` one of `varz`, `connz`, `jsz`, `subsz`, `healthz` and their queries.
    pub(crate) async fn monitor(&self, path: &str) -> String {
        get(self.monitor, path).await.unwrap_or_else(|error| panic!("the server does not answer for {path}: {error}"))
    }

    /// Ends the server and lets it finish. Storage and ports stay.
    pub(crate) async fn stop(&mut self) {
        let Some(mut running) = self.running.take() else { return };
        running.terminate();
        until("the server ends", || running.has_ended()).await;
    }

    /// Ends the server without letting it finish anything: a crash. Storage and ports stay.
    pub(crate) async fn kill(&mut self) {
        let Some(mut running) = self.running.take() else { return };
        running.child.kill().unwrap();
        until("the server ends", || running.has_ended()).await;
    }

    /// The same, with another set-up.
    pub(crate) async fn restart_with(&mut self, change: impl FnOnce(Setup) -> Setup) {
        self.setup = change(self.setup.clone());
        self.restart().await;
    }

    /// Stops the server if it runs, and starts it on the same ports with the same storage. It answers when this returns.
    pub(crate) async fn restart(&mut self) {
        self.stop().await;
        let begun = Instant::now();
        while let Err(log) = self.launch().await {
            let again = log.contains("address already in use") && begun.elapsed() < PATIENCE;
            assert!(again, "the server does not start again:\n{log}");
            sleep(PAUSE).await;
        }
    }

    /// Starts the process and waits until it answers, or gives the log of one that ended.
    async fn launch(&mut self) -> Result<(), String> {
        let log = self.log();
        let _ = fs::remove_file(&log);
        fs::write(self.folder.path().join("server.conf"), self.configuration()).unwrap();
        let running = self.running.insert(Running::start(&self.setup, &self.folder));
        let begun = Instant::now();
        loop {
            if running.has_ended() {
                self.running = None;
                return Err(fs::read_to_string(log).unwrap_or_else(|error| format!("it left no log: {error}")));
            }
            // Somebody else's server may answer on this port as long as ours has not found out that it is taken.
            if get(self.monitor, "healthz").await.is_ok_and(|health| health.contains("\"ok\""))
                && let Ok(about) = get(self.monitor, "varz").await
                && about.contains(&format!("\"server_name\": \"{}\"", self.name))
            {
                let version = format!("\"version\": \"{}", self.setup.version().prefix());
                assert!(about.contains(&version), "{} is another version", self.setup.version().binary().display());
                return Ok(());
            }
            assert!(begun.elapsed() < PATIENCE, "the server does not answer:\n{}", fs::read_to_string(log).unwrap());
            sleep(PAUSE).await;
        }
    }

    fn configuration(&self) -> String {
        let path = |name: &str| self.folder.path().join(name).into_os_string().into_string().unwrap();
        format!(
            "server_name: {:?}\nlisten: \"127.0.0.1:{}\"\nhttp: \"127.0.0.1:{}\"\nlog_file: {:?}\n{}",
            self.name,
            self.port,
            self.monitor,
            path("log"),
            self.setup.configuration(&path("store"))
        )
    }

    fn log(&self) -> PathBuf {
        self.folder.path().join("log")
    }
}

/// The process, and another that ends it should this one be gone before it could.
struct Running {
    child: Child,
    guard: Option<Child>,
}

impl Running {
    fn start(setup: &Setup, folder: &Folder) -> Self {
        let server = Command::new(setup.version().binary())
            .arg("-c")
            .arg(folder.path().join("server.conf"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the server's program runs");
        let number = server.id().to_string();
        // Held from here on, so that it is ended also where its guard cannot be had.
        let mut running = Self { child: server, guard: None };
        // It reads until nobody can write: until this process has ended, in whichever way.
        let guard = Command::new("sh")
            .args(["-c", r#"read _; kill -9 "$1"; rm -rf -- "$2""#, "guard", &number])
            .arg(folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        running.guard = Some(guard.expect("there is `sh`"));
        running
    }

    fn terminate(&self) {
        let sent: io::Result<ExitStatus> =
            Command::new("sh").args(["-c", r#"kill -TERM "$1""#, "stop", &self.child.id().to_string()]).status();
        assert!(sent.unwrap().success(), "the server is there to be stopped");
    }

    fn has_ended(&mut self) -> bool {
        self.child.try_wait().unwrap().is_some()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // The server first, waited for: after that its number may be another's, and the guard must not act on it.
        let _ = self.child.kill();
        let _ = self.child.wait();
        if let Some(guard) = &mut self.guard {
            let _ = guard.kill();
            let _ = guard.wait();
        }
    }
}

/// Waits for a condition, and fails when it does not come true.
async fn until(what: &str, mut condition: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !condition() {
        assert!(begun.elapsed() < PATIENCE, "not in {PATIENCE:?}: {what}");
        sleep(PAUSE).await;
    }
}

/// A port that nobody listens on, below those that the system gives to outgoing connections: a client that tries again and again
/// to reach a server that is down would else be given the server's own port one day, and be connected with itself.
fn free_port() -> u16 {
    const FIRST: u16 = 12_000;
    const COUNT: u16 = 20_000;
    static NEXT: AtomicU16 = AtomicU16::new(0);
    // Processes begin at different places; what still clashes is tried again.
    let start = (process::id() % u32::from(COUNT)) * 211 % u32::from(COUNT);
    for _ in 0..COUNT {
        let offset = (start + u32::from(NEXT.fetch_add(1, Ordering::Relaxed))) % u32::from(COUNT);
        let port = FIRST + u16::try_from(offset).unwrap();
        if TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok() {
            return port;
        }
    }
    panic!("no port is free");
}

/// The body of what the monitoring port answers.
fn get(port: u16, path: &str) -> impl Future<Output = io::Result<String>> {
    let request = format!("GET /{path} HTTP/1.0\r\n\r\n");
    async move {
        let exchange = async {
            let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await?;
            stream.write_all(request.as_bytes()).await?;
            let mut answer = String::new();
            stream.read_to_string(&mut answer).await?;
            io::Result::Ok(answer)
        };
        let answer = timeout(Duration::from_secs(5), exchange).await.map_err(|_| io::ErrorKind::TimedOut)??;
        let (_, body) = answer.split_once("\r\n\r\n").ok_or(io::ErrorKind::InvalidData)?;
        Ok(body.to_owned())
    }
}
