//! A link between client and server that can be cut, held and healed.

use std::{io, net::Ipv4Addr, sync::Arc};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream, tcp},
    sync::watch,
    task::{JoinHandle, JoinSet},
};

use crate::server::Server;

/// What the link does with what arrives at one of its ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Link {
    /// Hands it on.
    Whole,
    /// Takes connections, and hands nothing on, as a network without a route.
    Held,
    /// Resets each new connection.
    Cut,
}

#[derive(Debug, Clone, Copy)]
struct State {
    link: Link,
    /// What is sent is changed from the one to the other.
    misdirects: Option<(&'static [u8], &'static [u8])>,
    /// How often it was cut: a connection from before sees that, also when it is healed again at once.
    cuts: u64,
}

/// Forwards connections to a server. Ends with its value, and all connections with it.
pub(crate) struct Proxy {
    port: u16,
    link: Arc<watch::Sender<State>>,
    listening: JoinHandle<()>,
}

impl Proxy {
    /// A whole link to a server, for as long as that keeps its port.
    pub(crate) async fn to(server: &Server) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let link = Arc::new(watch::Sender::new(State { link: Link::Whole, misdirects: None, cuts: 0 }));
        let listening = tokio::spawn(listen(listener, server.port(), link.clone()));
        Self { port, link, listening }
    }

    /// Where clients connect.
    pub(crate) fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }

    /// Resets every connection, and each new one, until it is healed.
    pub(crate) fn cut(&self) {
        self.link.send_modify(|state| *state = State { link: Link::Cut, cuts: state.cuts + 1, ..*state });
    }

    /// Stops handing on, in both directions, until it is healed or cut. No end learns of it.
    pub(crate) fn hold(&self) {
        self.link.send_modify(|state| state.link = Link::Held);
    }

    /// What is sent to a subject with `from` in it goes to that with `to`, as long, from now on.
    pub(crate) fn misdirect(&self, from: &'static str, to: &'static str) {
        assert_eq!(from.len(), to.len());
        self.link.send_modify(|state| state.misdirects = Some((from.as_bytes(), to.as_bytes())));
    }

    /// Hands on again: also what was sent on connections that were held.
    pub(crate) fn heal(&self) {
        self.link.send_modify(|state| state.link = Link::Whole);
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.listening.abort();
    }
}

async fn listen(listener: TcpListener, server: u16, link: Arc<watch::Sender<State>>) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            client = listener.accept() => {
                let (client, _) = client.expect("the listener stays open");
                connections.spawn(forward(client, server, link.subscribe()));
            }
            Some(_) = connections.join_next() => {}
        }
    }
}

/// Forwards one connection until its ends close it, or resets both when the link is cut.
async fn forward(mut client: TcpStream, server: u16, mut state: watch::Receiver<State>) -> io::Result<()> {
    let State { link, cuts, .. } = *state.wait_for(|state| state.link != Link::Held).await.map_err(io::Error::other)?;
    if link == Link::Cut {
        return client.set_zero_linger();
    }
    let mut server = TcpStream::connect((Ipv4Addr::LOCALHOST, server)).await?;
    // As the ends do: else each small message would wait for the next one.
    client.set_nodelay(true)?;
    server.set_nodelay(true)?;
    let (from_client, to_client) = client.split();
    let (from_server, to_server) = server.split();
    let whole = async {
        tokio::try_join!(hand_on(from_client, to_server, state.clone()), hand_on(from_server, to_client, state.clone()))
    };
    let mut cut = state.clone();
    let is_cut = tokio::select! {
        biased;
        _ = cut.wait_for(|state| state.cuts > cuts) => true,
        ended = whole => ended.is_err(),
    };
    if is_cut {
        client.set_zero_linger()?;
        server.set_zero_linger()?;
    }
    Ok(())
}

async fn hand_on(
    mut from: tcp::ReadHalf<'_>,
    mut to: tcp::WriteHalf<'_>,
    mut state: watch::Receiver<State>,
) -> io::Result<()> {
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let read = from.read(&mut buffer).await?;
        let State { link, misdirects, .. } =
            *state.wait_for(|state| state.link != Link::Held).await.map_err(io::Error::other)?;
        if let Some((from, to)) = misdirects {
            for at in 0..read.saturating_sub(from.len() - 1) {
                let here = &mut buffer[at..at + from.len()];
                if here == from {
                    here.copy_from_slice(to);
                }
            }
        }
        if link == Link::Cut {
            // What was held when it was cut is gone, whoever hears of the cut first.
            return Err(io::ErrorKind::ConnectionReset.into());
        }
        if read == 0 {
            return to.shutdown().await;
        }
        to.write_all(&buffer[..read]).await?;
    }
}
