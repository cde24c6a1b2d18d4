//! What is said where the client fails.

use std::any::Any;

use super::*;

#[test]
fn what_the_client_finds_too_large_after_all_is_too_large() {
    let why = |kind: PublishErrorKind| not_taken(kind.into(), true, || (9, 8));
    assert!(matches!(why(PublishErrorKind::MaxPayloadExceeded), NotSent::TooLarge { size: 9, limit: 8 }));
    assert!(matches!(why(PublishErrorKind::Send), NotSent::Closed));
    assert!(matches!(why(PublishErrorKind::InvalidSubject), NotSent::Client(_)));
}

#[test]
fn a_panic_of_the_client_is_said_to_be_about_tls_only_where_it_is() {
    let servers = Servers::parse("nats://localhost:4222").unwrap();
    let about_tls = "Could not automatically determine the process-level CryptoProvider from Rustls crate features.";
    let fix = |panic: &(dyn Any + Send), has_tls| match panicked(&servers, panic, has_tls) {
        OpenError::Setting { fix, .. } => Some(fix),
        _ => None,
    };
    assert!(fix(&about_tls, false).unwrap().contains("enable tramline's feature `nats-tls`"));
    assert!(fix(&about_tls.to_owned(), true).unwrap().contains("CryptoProvider::install_default"));
    for has_tls in [false, true] {
        assert_eq!(fix(&"index out of bounds", has_tls), None);
        let OpenError::Unreachable { source } = panicked(&servers, &"the secret", has_tls) else { panic!("another") };
        assert!(source.to_string().contains("panicked") && !source.to_string().contains("secret"), "{source}");
    }
}
