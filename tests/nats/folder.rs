//! A temporary folder that goes when its owner does.

use std::{
    fs, io,
    path::{Path, PathBuf},
    process,
    sync::atomic::{AtomicU64, Ordering},
};

/// Every folder of these tests begins so, and with it the command line of every server: `tests/run` looks for what is left.
const PREFIX: &str = "tramline-nats-";

pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        loop {
            let name = format!("{PREFIX}{}-{}", process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
            let path = std::env::temp_dir().join(name);
            match fs::create_dir(&path) {
                Ok(()) => return Self(path),
                // Of a process of the same number that could not clean up.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => panic!("no folder can be made at {}: {error}", path.display()),
            }
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // A server that has just been killed may still be writing; whoever starts it removes the folder after it.
        let _ = fs::remove_dir_all(&self.0);
    }
}
