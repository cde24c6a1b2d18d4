//! Publishing on tramline's bus in memory, whoever is subscribed.

use tramline::{Bus, Event, Memory, Running, Subject, bus::BusBuilder, subject};

use super::{Publishes, event, turn};
use crate::{
    job::{Job, Load, Shape, subjects},
    work::{EVENT_TYPE, ORDER},
};

pub(super) static SUBJECT: Subject = subject!("order.placed");

pub(super) struct Published {
    bus: Bus<Memory, Running>,
    job: Job,
    event: Event,
    subjects: Vec<Subject>,
}

impl Published {
    pub(super) async fn start(builder: BusBuilder<Memory>, job: Job) -> Self {
        let bus = builder.build().expect("it is valid").start().await.expect("it starts");
        let subjects = match job.shape {
            Shape::Patterns => subjects().map(|subject| Subject::new(subject).expect("it is valid")).collect(),
            _ => vec![SUBJECT.clone()],
        };
        Self { bus, job, event: event(job.body()), subjects }
    }
}

impl Publishes for Published {
    async fn publish(&self, index: u64) {
        let subject = &self.subjects[turn(index, self.subjects.len())];
        let published = match self.job.load {
            Load::Value => self.bus.publish_value(subject, EVENT_TYPE, &ORDER).when_room().await,
            Load::Bare(_) | Load::Decoded(_) => self.bus.publish(subject, self.event.clone()).when_room().await,
        };
        published.expect("it runs");
    }
}
