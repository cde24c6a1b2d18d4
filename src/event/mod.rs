//! The unit that the bus carries.
