//! Keys, and what a server and a client need where users come with credentials that an operator has signed.

use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use nkeys::KeyPair;
use serde_json::{Value, json};

use crate::setup::Setup;

/// An operator with one account and one user, made up anew each time.
pub(crate) struct Operator {
    /// The server's configuration.
    lines: String,
    credentials: String,
}

impl Operator {
    pub(crate) fn new() -> Self {
        let (operator, account, user) = (KeyPair::new_operator(), KeyPair::new_account(), KeyPair::new_user());
        let unlimited = json!({ "subs": -1, "data": -1, "payload": -1 });
        let mut limits = unlimited.clone();
        for name in ["imports", "exports", "conn", "leaf"] {
            limits[name] = (-1).into();
        }
        limits["wildcards"] = true.into();
        let signed_operator = token(&operator, &operator, "operator", json!({}));
        let signed_account = token(&account, &operator, "account", json!({ "limits": limits }));
        let signed_user = token(&user, &account, "user", unlimited);
        let credentials = format!(
            "-----BEGIN NATS USER JWT-----\n{signed_user}\n------END NATS USER JWT------\n\n\
             -----BEGIN USER NKEY SEED-----\n{}\n------END USER NKEY SEED------\n",
            user.seed().unwrap()
        );
        let account = account.public_key();
        let lines = format!(
            "operator: {signed_operator}\nresolver: MEMORY\nresolver_preload: {{ {account}: {signed_account} }}"
        );
        Self { lines, credentials }
    }

    /// What the credentials file of the user holds.
    pub(crate) fn credentials(&self) -> &str {
        &self.credentials
    }
}

impl Setup {
    /// Only for users of this operator. Without JetStream, which would take a system account.
    pub(crate) fn operator(self, operator: &Operator) -> Self {
        self.without_jetstream().line(&operator.lines)
    }
}

/// Claims about a key, signed by another.
fn token(about: &KeyPair, by: &KeyPair, kind: &str, mut claims: Value) -> String {
    claims["type"] = kind.into();
    claims["version"] = 2.into();
    let part = |value: Value| BASE64_URL_SAFE_NO_PAD.encode(value.to_string());
    let body = json!({
        "jti": about.public_key(), "iat": 1_700_000_000, "iss": by.public_key(), "sub": about.public_key(), "name": kind,
        "nats": claims,
    });
    let signed = format!("{}.{}", part(json!({ "typ": "JWT", "alg": "ed25519-nkey" })), part(body));
    let signature = by.sign(signed.as_bytes()).unwrap();
    format!("{signed}.{}", BASE64_URL_SAFE_NO_PAD.encode(signature))
}
