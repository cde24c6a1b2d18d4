//! `JetStream` at its session, each test on both servers.
