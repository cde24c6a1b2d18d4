//! Who gets what (contract S, K).

use crate::support::*;

#[tokio::test]
async fn every_source_whose_pattern_selects_the_subject_gets_each_message_once() {
    let session = open().await;
    let mut sinks = [
        sub("a.b").on(&session).await,
        sub("a.b").on(&session).await,
        sub("a.*").on(&session).await,
        sub(">").on(&session).await,
    ];
    let mut other = sub("a.c").on(&session).await;
    for id in 0..10 {
        publish(&session, "a.b", id).await.unwrap();
    }
    let all: Vec<_> = (0..10).map(|id| id.to_string()).collect();
    for sink in &mut sinks {
        assert_eq!(sink.drain(), all);
        assert_eq!(sink.counts(), [10, 0, 0, 0]);
    }
    assert_eq!(other.drain(), [""; 0]);
}
