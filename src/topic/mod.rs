//! Payload types that know where they go: the subject, the event type and the schema of a type.

use std::fmt::Display;

pub use crate::subject::TopicError;
use crate::{
    event::Uri,
    subject::{Pattern, Piece, Subject},
};

/// A payload type with its subject, its event type and, if it has one, its schema.
///
/// Derive it, and the literals are checked by the compiler (contract C6):
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use tramline::{Bus, Memory, Payload, Topic, source, subject, subscription};
///
/// #[derive(serde::Serialize, serde::Deserialize, Topic)]
/// #[topic(
///     subject = "order.{region}.placed",
///     event_type = "com.example.order.placed.v1",
///     schema = "https://example.com/schemas/order.json"
/// )]
/// struct OrderPlaced<'a> {
///     region: &'a str,
///     total: u64,
/// }
///
/// #[subscription(pattern = "order.*.placed")]
/// async fn orders(order: Payload<OrderPlaced<'_>>) {
///     println!("{} in {}", order.total, order.region);
/// }
///
/// let order = OrderPlaced { region: "eu", total: 17 };
/// assert_eq!(order.subject()?, subject!("order.eu.placed"));
///
/// let bus = Bus::builder(Memory::new(), source!("urn:example:shop")).subscribe(orders).build()?.start().await?;
/// bus.publish_topic(&order).await?; // to `order.eu.placed`, with its event type and its schema
///
/// let nowhere = OrderPlaced { region: "eu.west", total: 17 };
/// let error = bus.publish_topic(&nowhere).await.unwrap_err();
/// assert!(error.to_string().contains("its field `region` is \"eu.west\", and a token has no dot"));
/// # Ok(())
/// # }
/// ```
///
/// # The attribute
/// | `#[topic(..)]` | meaning | |
/// |---|---|---|
/// | `subject = ".."` | where values go; a token `{field}` is a place, which that field fills | required |
/// | `event_type = ".."` | the event's `type` (contract P2) | required |
/// | `schema = ".."` | the event's `dataschema`, a URI | optional |
///
/// A place is a whole token and becomes exactly one: what the field's [`Display`] writes, checked when the value is
/// published (S1, S2, S6). Fields of tuple structs are `{0}`, `{1}` and so on. Types may borrow, be generic, and be enums
/// where the subject has no places.
///
/// # What it gives
/// `publish_topic` of [`Bus`](crate::Bus::publish_topic), [`Handle`](crate::Handle::publish_topic) and
/// [`Publisher`](crate::Publisher::publish_topic). And a `#[subscription]` whose pattern can never select a topic that its
/// handler takes as [`Payload`](crate::Payload) does not compile (contract C33):
///
/// ```compile_fail,E0080
/// # use tramline::{Payload, Topic, subscription};
/// #[derive(serde::Deserialize, Topic)]
/// #[topic(subject = "order.placed", event_type = "com.example.order.placed.v1")]
/// struct OrderPlaced;
///
/// #[subscription(pattern = "invoice.>")]
/// async fn orders(_: Payload<OrderPlaced>) {}
/// ```
///
/// # Implementing it
/// By hand it is a few lines, for a subject that is not made of fields one to one:
///
/// ```
/// use tramline::{Pattern, Subject, Topic, event::Uri, pattern, subject, topic::TopicError};
///
/// struct Alarm { drill: bool }
///
/// impl Topic for Alarm {
///     const PATTERN: Pattern = pattern!("alarm.*");
///     const EVENT_TYPE: &'static str = "com.example.alarm.v1";
///     const SCHEMA: Option<Uri> = None;
///
///     fn subject(&self) -> Result<Subject, TopicError> {
///         Ok(if self.drill { subject!("alarm.drill") } else { subject!("alarm.fire") })
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a topic",
    label = "no subject and event type of its own",
    note = "derive `Topic` on it with `#[topic(subject = \"..\", event_type = \"..\")]`, or publish it with `publish_value`"
)]
pub trait Topic {
    /// What selects the subjects of all values: the subject with `*` for each place.
    const PATTERN: Pattern;

    /// The `type` of the events that carry a value.
    const EVENT_TYPE: &'static str;

    /// The `dataschema` of the events that carry a value.
    const SCHEMA: Option<Uri>;

    /// The subject that this value is published on; [`PATTERN`](Topic::PATTERN) selects it. Nothing is allocated where
    /// there are no places.
    ///
    /// # Errors
    /// What fills a place is no token, or the whole is too long; the error names the field and its value.
    fn subject(&self) -> Result<Subject, TopicError>;
}

/// What may fill a place of a topic's subject: whatever can be displayed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot fill a place of a subject",
    label = "does not say how it is written",
    note = "implement `std::fmt::Display` for it, or name another field in the topic's `subject`"
)]
pub trait FillsPlace: Display {}

// Keeps the first line of an error ours.
#[diagnostic::do_not_recommend]
impl<T: Display> FillsPlace for T {}

/// A place and what fills it, for the derive.
#[doc(hidden)]
pub fn place<'a, T: FillsPlace>(field: &'static str, value: &'a T) -> Piece<'a> {
    Piece::Field(field, value)
}
