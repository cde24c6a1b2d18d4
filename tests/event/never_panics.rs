//! No document makes the reader panic, and what it takes, it keeps (contract Q6). `TRAMLINE_CASES` sets how many documents.

use bytes::Bytes;
use tramline::event::Event;

use crate::corpus;

const CASES: u64 = 200_000;

/// A small generator: the run is the same each time, and a failure can be found again by its number.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 16
    }

    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % u64::try_from(end.max(1)).unwrap()).unwrap()
    }

    fn byte(&mut self) -> u8 {
        u8::try_from(self.below(256)).unwrap()
    }
}

/// What makes a difference to a reader of JSON, or to the checks of an attribute.
const PIECES: [&str; 20] = [
    "null",
    "true",
    "1e9",
    "-1",
    "2147483648",
    "\"\"",
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\"",
    "\\u0000",
    "\\ud800",
    "\\",
    "%",
    "\u{85}",
    "é",
    " ",
];

/// What makes a difference to the meaning of an event.
const MEMBERS: [&str; 16] = [
    "\"data\":1,",
    "\"data\":\"1\",",
    "\"data\":null,",
    "\"data_base64\":\"AA==\",",
    "\"data_base64\":\"MQ==\",",
    "\"id\":\"x\",",
    "\"datacontenttype\":\"text/plain\",",
    "\"datacontenttype\":\"a/B+JSON;c=d\",",
    "\"datacontenttype\":null,",
    "\"subject\":\"\\\\\",",
    "\"time\":\"2026-01-31T12:34:56.7+08:00\",",
    "\"dataschema\":\"a:\",",
    "\"x\":1,",
    "\"y\":\"\\u00e9\",",
    "\"z\":false,",
    "\"x\":null,",
];

fn mutate(document: &mut Vec<u8>, other: &[u8], random: &mut Random) {
    let at = random.below(document.len() + 1);
    match random.below(8) {
        0 if at < document.len() => document[at] = random.byte(),
        1 if at < document.len() => document[at] ^= 1 << random.below(8),
        2 => document.truncate(at),
        3 => {
            let end = (at + random.below(12)).min(document.len());
            document.drain(at..end);
        }
        4 => {
            let piece = PIECES[random.below(PIECES.len())].as_bytes();
            document.splice(at..at, piece.iter().copied());
        }
        // Between two members, where a piece has the best chance to make another event.
        5 | 6 => {
            let member = MEMBERS[random.below(MEMBERS.len())].as_bytes();
            if let Some(open) = document.iter().position(|byte| *byte == b'{') {
                document.splice(open + 1..open + 1, member.iter().copied());
            }
        }
        _ => {
            let start = random.below(other.len());
            let end = (start + random.below(40)).min(other.len());
            document.splice(at..at, other[start..end].iter().copied());
        }
    }
}

/// Whether it is an event. All ways of reading must agree on that, and on the event.
fn check(document: &[u8]) -> bool {
    let shared = Bytes::copy_from_slice(document);
    let batch = [b"[", document, b"]"].concat();
    match (Event::from_json(document), Event::from_json_bytes(&shared)) {
        (Ok(event), Ok(same)) => {
            assert_eq!(event, same);
            assert_eq!(Event::from_json(&event.to_json()).unwrap(), event);
            assert_eq!(Event::from_json_batch(&batch).unwrap(), [event]);
            true
        }
        (Err(error), Err(same)) => {
            assert_eq!(error.to_string(), same.to_string());
            assert!(error.to_string().len() < 1_000, "an error message must not carry the document along");
            drop(Event::from_json_batch_bytes(&batch.into()));
            false
        }
        (left, right) => panic!("{left:?} and {right:?} of {}", String::from_utf8_lossy(document)),
    }
}

#[test]
fn no_document_makes_the_reader_panic() {
    let cases = std::env::var("TRAMLINE_CASES").map_or(CASES, |text| text.parse().expect("TRAMLINE_CASES is a number"));
    // Good documents more often: most mutations of a bad one end in the same error.
    let good = corpus::good().into_iter().cycle().take(corpus::good().len() * 4);
    let seeds: Vec<Vec<u8>> = good.chain(corpus::bad()).map(|(_, document)| document).collect();
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let (mut done, mut events) = (0, 0);
    while done < cases {
        let mut document = if done % 16 == 0 {
            (0..random.below(64)).map(|_| random.byte()).collect()
        } else {
            seeds[random.below(seeds.len())].clone()
        };
        for _ in 0..=random.below(3) / 2 {
            let other = &seeds[random.below(seeds.len())];
            mutate(&mut document, other, &mut random);
        }
        events += u64::from(check(&document));
        done += 1;
    }
    println!("{done} documents, of which {events} were events");
    assert_eq!(done, cases);
    assert!(
        cases < 1_000 || (events > cases / 20 && events < cases),
        "the mutations find only one side: {events} of {cases}"
    );
}
