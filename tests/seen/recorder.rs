//! A subscriber of `tracing` that writes down what it is told: each event with its fields, and the spans around it.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, Mutex, OnceLock},
};

use tracing::{
    Dispatch, Event, Level, Metadata, Subscriber,
    field::{Field, Visit},
    level_filters::LevelFilter,
    span::{Attributes, Id, Record},
    subscriber::{DefaultGuard, Interest},
};
use tracing_subscriber::{
    Layer,
    layer::{Context, SubscriberExt},
    registry::LookupSpan,
};

type Fields = BTreeMap<String, String>;

/// Is there before anything is told, and wants to be asked each time. Without it, what one test does not listen to may be
/// taken for what nobody listens to, if `tracing` meets a place in the code while another test begins to listen.
struct Asked;

impl Subscriber for Asked {
    fn register_callsite(&self, _: &'static Metadata<'static>) -> Interest {
        Interest::sometimes()
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(LevelFilter::TRACE)
    }

    fn enabled(&self, _: &Metadata<'_>) -> bool {
        false
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, _: &Event<'_>) {}

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

/// A span or an event.
#[derive(Debug, Clone)]
pub(crate) struct Told {
    pub(crate) name: String,
    pub(crate) level: Level,
    pub(crate) target: String,
    fields: Fields,
    /// Of an event: the spans around it, the innermost first, with what they had been told by then.
    pub(crate) inside: Vec<Told>,
}

impl Told {
    /// A field's value, as text; empty if it has none.
    pub(crate) fn get(&self, field: &str) -> &str {
        self.fields.get(field).map_or("", String::as_str)
    }

    /// The names of the fields that have a value.
    pub(crate) fn fields(&self) -> Vec<&str> {
        self.fields.keys().map(String::as_str).filter(|name| *name != "message").collect()
    }
}

/// What was told since it listens, on this thread.
#[derive(Debug, Clone, Default)]
pub(crate) struct Recorder {
    events: Arc<Mutex<Vec<Told>>>,
    spans: Arc<Mutex<BTreeMap<u64, Told>>>,
}

impl Recorder {
    /// Listens to all that is of this level or worse, until the guard is dropped.
    pub(crate) fn listen(level: LevelFilter) -> (Self, DefaultGuard) {
        static ASKED: OnceLock<Dispatch> = OnceLock::new();
        ASKED.get_or_init(|| Dispatch::new(Asked));
        let recorder = Self::default();
        let subscriber = tracing_subscriber::registry().with(level).with(recorder.clone());
        (recorder, tracing::subscriber::set_default(subscriber))
    }

    /// Every event of this name, in order.
    pub(crate) fn events(&self, name: &str) -> Vec<Told> {
        self.events.lock().unwrap().iter().filter(|told| told.name == name).cloned().collect()
    }

    /// Every span of this name, in order, with all that it was told.
    pub(crate) fn spans(&self, name: &str) -> Vec<Told> {
        self.spans.lock().unwrap().values().filter(|told| told.name == name).cloned().collect()
    }
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Recorder {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, _: Context<'_, S>) {
        let mut told = told(attributes.metadata());
        attributes.record(&mut Writing(&mut told.fields));
        self.spans.lock().unwrap().insert(id.into_u64(), told);
    }

    fn on_record(&self, id: &Id, record: &Record<'_>, _: Context<'_, S>) {
        if let Some(told) = self.spans.lock().unwrap().get_mut(&id.into_u64()) {
            record.record(&mut Writing(&mut told.fields));
        }
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let mut told = told(event.metadata());
        event.record(&mut Writing(&mut told.fields));
        let spans = self.spans.lock().unwrap();
        let around = context.event_scope(event).into_iter().flatten();
        told.inside = around.filter_map(|span| spans.get(&span.id().into_u64()).cloned()).collect();
        drop(spans);
        self.events.lock().unwrap().push(told);
    }
}

fn told(metadata: &Metadata<'_>) -> Told {
    let (name, target) = (metadata.name().to_owned(), metadata.target().to_owned());
    Told { name, level: *metadata.level(), target, fields: Fields::new(), inside: Vec::new() }
}

struct Writing<'f>(&'f mut Fields);

impl Visit for Writing<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.0.insert(field.name().to_owned(), format!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.insert(field.name().to_owned(), value.to_owned());
    }
}
