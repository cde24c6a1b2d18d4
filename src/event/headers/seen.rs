//! Texts that come again and again, such as the sources and the types of one subscription's events: checked and copied once.

/// How many of one kind are remembered.
const PLACES: usize = 8;
/// Longer ones are not.
const LONGEST: usize = 256;

/// The texts of one kind that came last, made into what they are once they are checked.
#[derive(Debug)]
pub(crate) struct Seen<T>([Option<T>; PLACES]);

impl<T> Default for Seen<T> {
    fn default() -> Self {
        Self([const { None }; PLACES])
    }
}

impl<T: AsRef<str> + Clone> Seen<T> {
    /// A clone of what was made of this text before, or else what is made of it now.
    pub(crate) fn find<'t, E>(&mut self, text: &'t str, make: impl FnOnce(&'t str) -> Result<T, E>) -> Result<T, E> {
        let place = &mut self.0[place(text.as_bytes())];
        if let Some(seen) = place
            && seen.as_ref() == text
        {
            return Ok(seen.clone());
        }
        let made = make(text)?;
        if text.len() <= LONGEST {
            *place = Some(made.clone());
        }
        Ok(made)
    }
}

/// Where a text is kept. Texts of one kind often have their length in common, and differ in the end or in the middle.
fn place(text: &[u8]) -> usize {
    let at = |index: usize| usize::from(text.get(index).copied().unwrap_or_default());
    (text.len() + at(text.len().wrapping_sub(1)) + 3 * at(text.len() / 2)) % PLACES
}

#[cfg(test)]
mod tests {
    use std::{convert::Infallible, sync::Arc};

    use super::*;

    fn find(seen: &mut Seen<Arc<str>>, text: &str) -> Arc<str> {
        seen.find(text, |text| Ok::<_, Infallible>(text.into())).unwrap_or_else(|never| match never {})
    }

    #[test]
    fn what_came_before_is_shared_and_is_never_taken_for_another() {
        let mut seen = Seen::default();
        let texts: Vec<String> = (0..500).map(|number| format!("com.example.{}.{number}", number % 7)).collect();
        for text in texts.iter().chain(&texts) {
            let first = find(&mut seen, text);
            assert_eq!(&*first, text);
            assert!(Arc::ptr_eq(&first, &find(&mut seen, text)));
        }
        assert_eq!(&*find(&mut seen, ""), "");
    }

    #[test]
    fn what_is_long_or_wrong_is_not_remembered() {
        let mut seen = Seen::default();
        let long = "x".repeat(LONGEST + 1);
        assert!(!Arc::ptr_eq(&find(&mut seen, &long), &find(&mut seen, &long)));
        assert_eq!(seen.find("y", |_| Err("wrong")).err(), Some("wrong"));
        assert_eq!(&*find(&mut seen, "y"), "y");
    }
}
