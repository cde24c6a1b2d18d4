//! Services that are generated to see what they cost to compile: so many handlers, of the kinds that services have.

use std::{fmt::Write as _, path::Path};

/// With whose macro.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Service {
    /// tramline's `#[subscription]`.
    Tramline,
    /// ruststream's `#[subscriber]`.
    Ruststream,
}

impl Service {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Tramline, Self::Ruststream];

    /// As a crate may be called.
    pub fn name(self) -> &'static str {
        match self {
            Self::Tramline => "tramline",
            Self::Ruststream => "ruststream",
        }
    }

    /// The manifest of such a crate.
    pub fn manifest(self, name: &str) -> String {
        let dependencies = match self {
            Self::Tramline => {
                let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
                format!("tramline = {{ path = {root:?} }}")
            }
            Self::Ruststream => String::from(
                "ruststream = { version = \"=0.7.7\", default-features = false, features = [\"json\", \"macros\", \"memory\"] }",
            ),
        };
        format!(
            "[package]\nname = \"{name}\"\nedition = \"2024\"\n\n[workspace]\n\n[dependencies]\n{dependencies}\n\
             serde = {{ version = \"1\", features = [\"derive\"] }}\n",
        )
    }

    /// Its one source file.
    pub fn source(self, handlers: usize) -> String {
        match self {
            Self::Tramline => tramline(handlers),
            Self::Ruststream => ruststream(handlers),
        }
    }
}

/// The payload's type and the state's, the same for both.
const TYPES: &str =
    "#[derive(serde::Deserialize)]\npub struct Order { pub number: u64 }\n#[derive(Clone)]\npub struct Db;\n";

/// What makes rustc generate the code of a start, without a runtime to depend on. Nobody runs it.
const MAIN: &str = "fn main() {\n    let mut context = std::task::Context::from_waker(std::task::Waker::noop());\n    \
                    let _ = Future::poll(std::pin::pin!(run()), &mut context);\n}\n";

fn tramline(handlers: usize) -> String {
    let mut text = format!("use tramline::{{Bus, Memory, Payload, State, Subject, source, subscription}};\n{TYPES}");
    for index in 0..handlers {
        let settings = match index % 3 {
            0 => format!("subject = \"order.s{index}\", bound = 64"),
            1 => format!("pattern = \"order.*.s{index}\", overflow = ShedOldest, restart"),
            _ => format!("pattern = \"order.s{index}.>\", group = \"g{index}\", concurrency = 2"),
        };
        let _ = writeln!(
            text,
            "#[subscription({settings})]\nasync fn handler_{index}(subject: &Subject, order: Payload<Order>, \
             State(_db): State<Db>) -> Result<(), std::fmt::Error> {{\n    let _ = (subject, order.number);\n    Ok(())\n}}",
        );
    }
    text.push_str("async fn run() {\n    let _ = Bus::builder(Memory::new(), source!(\"urn:example\")).state(Db)\n");
    for index in 0..handlers {
        let _ = writeln!(text, "        .subscribe(handler_{index})");
    }
    text.push_str("        .build().expect(\"valid\").start().await;\n}\n");
    text + MAIN
}

fn ruststream(handlers: usize) -> String {
    let mut text = format!("use ruststream::memory::prelude::*;\n{TYPES}#[derive(FromRef)]\nstruct App {{ db: Db }}\n");
    for index in 0..handlers {
        let settings = match index % 3 {
            0 => format!("\"order.s{index}\""),
            1 => format!("MemoryPattern::new(\"order.*.s{index}\")"),
            _ => format!("MemoryPattern::new(\"order.s{index}.>\"), workers(2)"),
        };
        let _ = writeln!(
            text,
            "#[subscriber({settings})]\nasync fn handler_{index}(order: &Order, State(_db): State<Db>) -> HandlerOutcome \
             {{\n    let _ = order.number;\n    HandlerOutcome::ack()\n}}",
        );
    }
    text.push_str(
        "async fn run() {\n    let _ = RustStream::new(AppInfo::new(\"orders\", \"1.0.0\"))\n        .on_startup(async move |()| \
         Ok::<_, std::convert::Infallible>(App { db: Db }))\n        .with_broker(MemoryBroker::new(), |scope| {\n",
    );
    for index in 0..handlers {
        let _ = writeln!(text, "            scope.include(handler_{index});");
    }
    text.push_str("        })\n        .start().await;\n}\n");
    text + MAIN
}
