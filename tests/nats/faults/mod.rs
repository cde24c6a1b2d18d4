//! What goes wrong with a broker, seen from whole buses: each test on both servers.

mod denied;
mod disk;
mod ended;
mod ended_core;
mod gone;
mod large;
mod link;
mod openers;
mod processes;
mod slow;
mod start;
mod support;
mod unreadable;
