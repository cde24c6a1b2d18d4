//! `JetStream` at its session and under a bus, each test on both servers.

mod bus;
mod faults;
mod given_up;
mod identity;
mod leaving;
mod opening;
mod publishing;
mod settling;
mod support;
