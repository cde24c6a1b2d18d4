//! A health endpoint in plain HTTP, for whoever watches the service.
//!
//! `GET /ready` says whether the bus runs, `GET /health` whether a subscription has failed for good, `GET /ledger` what
//! became of every message. A service that has an HTTP server already puts the same three calls into it.

use std::io;

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    task::JoinSet,
    time::{Duration, timeout},
};
use tramline::{Handle, contract::Backend};

/// How long a caller may take.
const PATIENCE: Duration = Duration::from_secs(2);
/// How much of a request is read: the first line is enough.
const LONGEST: usize = 1024;
/// How many callers are served at a time.
const CALLERS: usize = 16;

/// Serves until it is dropped.
pub(crate) async fn serve<B: Backend>(listener: TcpListener, bus: Handle<B>) {
    let mut callers = JoinSet::new();
    loop {
        match listener.accept().await {
            Ok((caller, _)) => {
                let bus = bus.clone();
                callers.spawn(async move { timeout(PATIENCE, answer(caller, &bus)).await });
            }
            Err(error) => {
                tracing::warn!("a health check was not accepted: {error}");
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
        while callers.len() >= CALLERS {
            callers.join_next().await;
        }
        while callers.try_join_next().is_some() {}
    }
}

async fn answer<B: Backend>(mut caller: TcpStream, bus: &Handle<B>) -> io::Result<()> {
    let mut request = Vec::new();
    while !request.contains(&b'\n') && request.len() < LONGEST {
        if caller.read_buf(&mut request).await? == 0 {
            break;
        }
    }
    let line = String::from_utf8_lossy(&request).lines().next().unwrap_or_default().to_owned();
    let (status, body) = match line.split(' ').nth(1).unwrap_or_default() {
        "/ready" if bus.is_ready() => ("200 OK", "ready\n".to_owned()),
        "/ready" => ("503 Service Unavailable", "not ready\n".to_owned()),
        "/health" if bus.health().is_healthy() => ("200 OK", format!("{}\n", bus.health())),
        "/health" => ("503 Service Unavailable", format!("{}\n", bus.health())),
        "/ledger" => ("200 OK", bus.ledger().to_string()),
        _ => ("404 Not Found", "there is /ready, /health and /ledger\n".to_owned()),
    };
    let head = format!("HTTP/1.1 {status}\r\ncontent-type: text/plain\r\ncontent-length: {}\r\n", body.len());
    caller.write_all(format!("{head}connection: close\r\n\r\n{body}").as_bytes()).await?;
    caller.shutdown().await
}
