//! Two processes on one durable identity, each a copy of this program. What they are told and what they tell goes by lines.

use std::{
    env,
    num::{NonZeroU32, NonZeroUsize},
    process::Stdio,
    time::Duration,
};

use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines, stdin},
    join,
    process::{Child, ChildStdin, ChildStdout, Command},
    sync::watch,
};
use tramline::{
    AtLeastOnce, Bus, Delivery, DurableName, Pattern, bus::StartError, contract::SubscribeError, name, source,
};

use super::support::{PATIENCE, chain, jetstream, on_both, owed, publish_surely, publisher, until, within};

/// What a process tells begins so: the test harness prints to the same place.
const TOLD: &str = "@ ";

fn tell(what: impl std::fmt::Display) {
    println!("{TOLD}{what}");
}

/// A process with one subscription. It ends when this value does, or when this process does: its orders end then.
struct Process {
    child: Child,
    orders: ChildStdin,
    told: Lines<BufReader<ChildStdout>>,
}

impl Process {
    /// Starts one that has built its bus and waits for the order to start it.
    async fn ready(url: &str, durable: &str, max_deliver: u32) -> Self {
        let mut child = Command::new(env::current_exe().unwrap())
            .args(["--ignored", "--exact", "--nocapture", "faults::processes::one_of_two"])
            .envs([("TEST_URL", url), ("TEST_DURABLE", durable), ("TEST_MAX_DELIVER", &max_deliver.to_string())])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let (orders, told) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let mut process = Self { child, orders, told: BufReader::new(told).lines() };
        assert_eq!(process.told().await, "ready");
        process
    }

    async fn order(&mut self, order: &str) {
        self.orders.write_all(format!("{order}\n").as_bytes()).await.unwrap();
    }

    /// The next thing that it tells.
    async fn told(&mut self) -> String {
        let told = async {
            loop {
                let line = self.told.next_line().await.unwrap().expect("it has not ended");
                if let Some((_, told)) = line.split_once(TOLD) {
                    return told.to_owned();
                }
            }
        };
        within("the process tells something", told).await
    }

    /// The next delivery that it tells of: the event's id, and the attempt.
    async fn came(&mut self) -> (String, u32) {
        let told = self.told().await;
        let (id, attempt) = told.strip_prefix("came ").and_then(|told| told.split_once(' ')).expect(&told);
        (id.to_owned(), attempt.parse().unwrap())
    }

    /// Stops its bus, and waits until it has ended.
    async fn stop(mut self) {
        self.order("stop").await;
        assert_eq!(self.told().await, "stopped");
        assert!(within("it ends", self.child.wait()).await.unwrap().success());
    }

    /// `kill -9`.
    async fn kill(mut self) {
        within("it ends", self.child.kill()).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "the tests beside it run it as a process of its own"]
async fn one_of_two() {
    let variable = |name| env::var(name).expect("the test that starts it says so");
    let durable = DurableName::new(variable("TEST_DURABLE")).unwrap();
    let max_deliver: NonZeroU32 = variable("TEST_MAX_DELIVER").parse().unwrap();
    let holds = watch::Sender::new(false);
    let held = holds.subscribe();
    let handler = move |delivery: Delivery<AtLeastOnce>| {
        let mut held = held.clone();
        async move {
            tell(format_args!("came {} {}", delivery.event().id(), delivery.attempt()));
            held.wait_for(|held| !held).await.unwrap();
            delivery.ack()
        }
    };
    let bus = Bus::builder(jetstream(variable("TEST_URL")), source!("urn:example:test"))
        .at_least_once(name!("till"), durable, max_deliver)
        .pattern(Pattern::new("shop.>").unwrap())
        .concurrency(NonZeroUsize::new(8).unwrap())
        .ack_wait(Duration::from_secs(2))
        .handle(handler)
        .build()
        .unwrap();
    let mut orders = BufReader::new(stdin()).lines();
    tell("ready");
    assert_eq!(orders.next_line().await.unwrap().as_deref(), Some("start"));
    let bus = match bus.start_within(PATIENCE).await.map_err(|not_started| not_started.error) {
        Ok(bus) => bus,
        Err(StartError::Subscribe { source: SubscribeError::Reopened { field, existing, asked, .. }, .. }) => {
            return tell(format_args!("refused {field} {existing} {asked}"));
        }
        Err(error) => return tell(format_args!("failed: {}", chain(&error))),
    };
    tell("open");
    while let Some(order) = orders.next_line().await.unwrap() {
        match order.as_str() {
            "hold" => {
                holds.send_replace(true);
                tell("holds");
            }
            "stop" => {
                let stats = bus.stop(Duration::from_secs(5)).await.bus.stats("till").unwrap();
                assert_eq!((stats.unaccounted(), stats.exhausted, stats.incidents), (0, 0, 0), "L4: {stats}");
                return tell("stopped");
            }
            other => panic!("no such order: {other}"),
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn i4_of_two_processes_that_open_one_durable_at_once_with_different_settings_one_is_refused_with_both_values() {
    on_both(async |server| {
        for round in 0..3 {
            let (url, durable) = (server.url(), format!("d{round}"));
            let (mut one, mut other) = join!(Process::ready(&url, &durable, 3), Process::ready(&url, &durable, 4));
            join!(one.order("start"), other.order("start"));
            let told = join!(one.told(), other.told());
            let won = match (told.0.as_str(), told.1.as_str()) {
                ("open", "refused max_deliver 3 4") => one,
                ("refused max_deliver 4 3", "open") => other,
                told => panic!("{told:?}"),
            };
            won.stop().await;
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn i3_two_processes_that_open_one_durable_at_once_share_it_and_what_a_killed_one_had_in_hand_comes_to_the_other()
{
    on_both(async |server| {
        let url = server.url();
        let (mut one, mut other) = join!(Process::ready(&url, "till", 20), Process::ready(&url, "till", 20));
        join!(one.order("start"), other.order("start"));
        assert_eq!(join!(one.told(), other.told()), ("open".to_owned(), "open".to_owned()));
        let writer = publisher(jetstream(&url)).await;
        let bus = writer.handle();
        let mut came = Vec::new();
        for id in 0..100 {
            publish_surely(&bus, id).await;
            came.push(tokio::select! {
                came = one.came() => came,
                came = other.came() => came,
            });
        }
        let expected: Vec<_> = (0..100).map(|id| (id.to_string(), 1)).collect();
        assert_eq!(came, expected, "each came to one of them, once");
        until("nothing is owed", async || matches!(owed(&url, "till").await, (0, 0, _))).await;

        // Either may get the next one, so it goes on until this one has both hands full, and some in front of them.
        one.order("hold").await;
        assert_eq!(one.told().await, "holds");
        let mut published = 100;
        let (mut held, mut accepted) = (Vec::new(), Vec::new());
        while held.len() < 8 {
            publish_surely(&bus, published).await;
            published += 1;
            tokio::select! {
                came = one.came() => held.push(came),
                came = other.came() => accepted.push(came),
            }
        }
        for _ in 0..20 {
            publish_surely(&bus, published).await;
            published += 1;
        }
        one.kill().await;
        while accepted.len() < published - 100 {
            accepted.push(other.came().await);
        }
        until("nothing is owed", async || matches!(owed(&url, "till").await, (0, 0, _))).await;
        let mut ids: Vec<usize> = accepted.iter().map(|(id, _)| id.parse().unwrap()).collect();
        ids.sort_unstable();
        assert_eq!(
            ids,
            (100..published).collect::<Vec<_>>(),
            "what it had acknowledged does not come, all else does, once"
        );
        for (id, _) in held {
            let attempt = accepted.iter().find(|(other, _)| *other == id).unwrap().1;
            assert!(attempt > 1, "{id} was in hand, and came to the other as attempt {attempt}");
        }
        other.stop().await;
        within("the stop", writer.stop(Duration::from_secs(5))).await;
    })
    .await;
}
