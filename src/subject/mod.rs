//! What a message is sent to, and what selects it.
