//! The macros of tramline, `#[subscription]`, `#[responder]` and `#[derive(Topic)]`. Use them from `tramline`; this crate
//! alone is of no use.
//!
//! A declaration goes through it as through a compiler, one file for each step: `parse` reads entries, `words` and
//! `settings` know what they mean, `validate` what they mean together, `function` takes the handler apart, `lower` says
//! what is asked of whom, `expand` emits it, and `fallback` emits what stands in for a declaration with mistakes.
//!
//! **Invariant:** a mistake is one error, at its token, naming the fix. Nothing else becomes an error because of it.
//! **Invariant:** what the library checks by types or constants is not checked here, so that no rule is written twice.

use proc_macro::TokenStream;

mod carries;
mod errors;
mod expand;
mod fallback;
mod function;
mod lifetimes;
mod lower;
mod parse;
mod paths;
mod read;
mod returns;
mod settings;
mod subscription;
mod suggest;
#[cfg(test)]
mod tests;
mod topic;
mod validate;
mod words;

use settings::Kind;

/// Makes a subscription of an async function.
///
/// The function becomes a unit struct of the same name, which `.subscribe(name)` takes. What the settings ask for, the
/// bus's backend must be able to do; what it cannot does not compile.
///
/// ```text
/// #[subscription(pattern = "greeting.>")]
/// async fn greeter(subject: &Subject, hello: Payload<Hello<'_>>) {
///     println!("{subject}: {}", hello.text);
/// }
///
/// #[subscription(
///     subject = "invoice.raised", mode = AtLeastOnce, durable = "invoices", max_deliver = 5,
///     backoff(initial = "1s", max = "1m", multiplier = 2.0), bound = 512, concurrency = 4, restart,
/// )]
/// async fn invoices(invoice: Payload<Invoice>, State(db): State<Db>) -> Result<Ack, BillingError> {
///     db.insert(&invoice).await?;
///     Ok(Ack)
/// }
///
/// Bus::builder(backend, source).state(App { db }).subscribe(greeter).subscribe(invoices)
/// ```
///
/// # Settings
/// Values are literals: texts, whole numbers, durations such as `"1m 30s"` and above zero, and the words shown. For
/// values that are known only at run time use the builders of `Bus::builder`.
///
/// | in both modes | meaning | without it |
/// |---|---|---|
/// | `name = "..."` | the name in logs, counters and errors | the function's name |
/// | `subject = "..."` | the one subject that is selected | `subject` or `pattern` is required |
/// | `pattern = "..."` | the subjects that are selected: `*` is one token, `>` the rest; a wildcard asks for a backend that matches patterns | |
/// | `mode = AtMostOnce` or `AtLeastOnce` | what is promised about delivery | `AtMostOnce` |
/// | `bound = N` | how many messages are held at most, at least 1 | 256 |
/// | `overflow = ShedNewest`, `ShedOldest` or `Fail` | what happens at the bound; at least once only `Fail` | the backend's own behaviour |
/// | `overflow = prefer(..)` | the same where the backend offers it, else its own behaviour | |
/// | `concurrency = N` | how many messages are handled side by side; at least once no more than the bound | 1 |
/// | `keyed = subject` or `"..."` | one key strictly in order, different keys side by side; the key is the subject, or the extension attribute of that name, and an event without it is its own key | no keys |
/// | `ordered` | publication order; excludes `backoff`, and `concurrency` above 1, unless it is `keyed` | no order |
/// | `restart` | a failed consumer is started again, without limit, after 1s, doubled up to 30s; a run of 30s begins anew | it stays failed |
/// | `restart(max_restarts = N, initial = "..", max = "..", reset_after = "..")` | the same with these parts, each optional | |
///
/// | at most once | meaning | without it |
/// |---|---|---|
/// | `group = "..."` | members of one group share the messages | everybody gets each message |
///
/// | at least once | meaning | without it |
/// |---|---|---|
/// | `durable = "..."` | the name under which what is owed is kept; all processes on one name compete | required |
/// | `max_deliver = N` | how many attempts a message has, the first one too | required |
/// | `allow_volatile` | a restart may lose the backlog | asks for a backend that survives a restart |
/// | `start_at = New` or `AllAvailable` | where a new durable name begins | `New` |
/// | `slow_handler = ExtendLease` or `Redeliver` | what happens when a handler takes longer than its lease | `ExtendLease` |
/// | `ack_wait = "..."` | the lease | the backend's own |
/// | `max_processing_time = "..."` | how long the lease is extended; only with `ExtendLease` | 5m |
/// | `backoff(initial = "..", max = "..", multiplier = N)` | how long a declined message is held back; the multiplier is at least 1, and 2 without it | it comes back at once |
/// | `max_nack_delay = "..."` | the longest delay that a handler may ask for; not below the backoff's `max` | the backoff's `max` |
///
/// With `backoff` or `max_nack_delay` the mode is `AtLeastOnce<Delayed>`, and a handler takes
/// `Delivery<AtLeastOnce<Delayed>>`, which has `nack_after`; else it is `AtLeastOnce`.
///
/// # The function
/// It is an `async fn`, free, not generic, and names no lifetime: what its arguments borrow, they borrow from the delivery.
/// Each argument is an extractor, and may be a pattern such as `State(db): State<Db>`. The return value says what became
/// of the message.
///
/// # What follows from the name
/// - `name::call(..)` calls the function itself, for unit tests.
/// - A unit struct is a type and a value. So there can be no module and no type of the same name beside it, and a local
///   variable or an argument of that name elsewhere in its scope is read as a pattern, which is an error: name either
///   otherwise. Within the handler itself the name is the function's, and free for an argument.
/// - Documentation, `#[deprecated]` and lint levels are the struct's; `#[cfg]` is everybody's; every other attribute stays
///   with the function.
/// - A handler that nobody subscribes is reported as a struct that is never constructed.
/// - The function's future must be `Send`. Arguments are checked against a codec and a state only where it is subscribed.
///
/// The crate is named `tramline`; renaming it in `Cargo.toml` is not supported.
#[proc_macro_attribute]
pub fn subscription(attribute: TokenStream, item: TokenStream) -> TokenStream {
    subscription::expand(Kind::Subscription, attribute.into(), item.into()).into()
}

/// Makes a responder of an async function: it answers requests, one member of its group each.
///
/// The function becomes a unit struct of the same name, which `.subscribe(name)` takes, as one of `#[subscription]` does.
/// The bus's backend must answer requests; one that does not does not compile.
///
/// ```text
/// #[responder(subject = "price.ask", group = "pricing", reply = "com.example.quote.v1")]
/// async fn price(ask: Payload<Ask<'_>>, State(prices): State<Prices>) -> Result<Quote, UnknownItem> {
///     prices.quote(ask.item)
/// }
///
/// Bus::builder(backend, source).state(App { prices }).subscribe(price)
/// ```
///
/// # Settings
/// Values are literals, as in `#[subscription]`. For values that are known only at run time use `Bus::builder(..).responder(..)`.
///
/// | setting | meaning | without it |
/// |---|---|---|
/// | `name = "..."` | the name in logs, counters and errors | the function's name |
/// | `subject = "..."` | the one subject that it answers on | `subject` or `pattern` is required |
/// | `pattern = "..."` | the subjects that it answers on: `*` is one token, `>` the rest; a wildcard asks for a backend that matches patterns | |
/// | `group = "..."` | the members of one group share the requests: each is answered by one of them | required |
/// | `reply = "..."` | the type of the event that carries the value which the function returns | the function returns an event |
/// | `bound = N` | how many requests are held at most, at least 1; one more is turned away, and its requester told at once | 256 |
/// | `concurrency = N` | how many requests are answered side by side | 1 |
/// | `restart`, `restart(..)` | a failed responder is started again, as a subscription is | it stays failed |
///
/// A responder is competing and at most once. There are no settings of another mode, no order and no keys.
///
/// # The function
/// It is an `async fn` as for `#[subscription]`, with the same arguments but `Delivery` and `Attempt`.
///
/// It returns its reply: with `reply = ".."` a value, which the bus's codec encodes; without it an `Event`, or a
/// `ReplyValue` where the type of the event is decided at run time; or a `Result` of one of them, written as `Result<..>`.
/// An answer that the requester did not hope for is a reply too, in its payload.
///
/// An error is logged and counted here, and the requester gets a failure reply that does not show it. So it does for a
/// panic, which also fails the responder; for a request that cannot be decoded; for a reply that cannot be sent; and when
/// a stop ends the handler.
///
/// A message that was published to it, and not requested, is handled too; its reply is discarded, and counted as unaddressed.
///
/// What follows from the name is as for `#[subscription]`; `name::call(..)` calls the function itself, for unit tests.
#[proc_macro_attribute]
pub fn responder(attribute: TokenStream, item: TokenStream) -> TokenStream {
    subscription::expand(Kind::Responder, attribute.into(), item.into()).into()
}

/// Makes a payload type a topic: a type that has its subject, its event type and its schema.
///
/// ```text
/// #[derive(Serialize, Deserialize, Topic)]
/// #[topic(
///     subject = "order.{region}.placed",
///     event_type = "com.example.order.placed.v1",
///     schema = "https://example.com/schemas/order.json"
/// )]
/// struct OrderPlaced<'a> { region: Region, total: u64, note: &'a str }
///
/// bus.publish_topic(&OrderPlaced { region, total, note }).await?
/// ```
///
/// `subject` and `event_type` are required, and all three are texts that the compiler checks. A token `{field}` of the
/// subject is a place, which becomes one token: what the field's `Display` writes, checked when a value is published.
/// Fields of tuple structs are `{0}`, `{1}` and so on; an enum's subject has no places. Type parameters that fill a place
/// get the bound that they can be displayed.
#[proc_macro_derive(Topic, attributes(topic))]
pub fn topic(item: TokenStream) -> TokenStream {
    topic::topic(item.into()).into()
}
