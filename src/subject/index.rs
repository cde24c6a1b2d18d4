//! Finds what is subscribed to a subject, at a cost that does not grow with the number of subscriptions.

use rustc_hash::FxHashMap;

use super::{Pattern, Subject, Token};

/// Values by pattern, looked up by subject: for backends that route messages themselves.
///
/// A look-up allocates nothing. It hashes the subject once for the patterns without a wildcard, and walks the others
/// token by token, visiting only what agrees with the subject so far. Several values may have the same pattern. The
/// order in which matches come is not specified.
///
/// ```
/// use tramline::{pattern, subject, subject::PatternIndex};
///
/// let mut index = PatternIndex::new();
/// index.insert(&pattern!("invoice.raised"), "billing");
/// index.insert(&pattern!("*.raised"), "audit");
/// index.insert(&pattern!("order.>"), "orders");
///
/// let mut found = Vec::new();
/// index.for_each_match(&subject!("invoice.raised"), |name| found.push(*name));
/// found.sort();
/// assert_eq!(found, ["audit", "billing"]);
///
/// assert_eq!(index.remove_where(&pattern!("*.raised"), |name| *name == "audit"), 1);
/// ```
#[derive(Clone, Debug)]
pub struct PatternIndex<T> {
    literals: FxHashMap<Subject, Vec<T>>,
    wildcards: Node<T>,
}

impl<T> PatternIndex<T> {
    /// An index with nothing in it.
    #[must_use]
    pub fn new() -> Self {
        Self { literals: FxHashMap::default(), wildcards: Node::new() }
    }

    /// Adds a value under a pattern, beside what is already there.
    pub fn insert(&mut self, pattern: &Pattern, value: T) {
        if let Some(subject) = pattern.as_subject() {
            self.literals.entry(subject).or_default().push(value);
            return;
        }
        let mut node = &mut self.wildcards;
        for token in pattern.tokens() {
            node = match token {
                Token::Word(word) => node.words.entry(word.into()).or_insert_with(Node::new),
                Token::One => node.one.get_or_insert_with(|| Box::new(Node::new())),
                Token::Rest => {
                    node.rest.push(value);
                    return;
                }
            };
        }
        node.here.push(value);
    }

    /// Removes the values under exactly this pattern for which `remove` answers true, and says how many they were.
    pub fn remove_where(&mut self, pattern: &Pattern, mut remove: impl FnMut(&T) -> bool) -> usize {
        if let Some(values) = self.literals.get_mut(pattern.as_str()) {
            let removed = take_where(values, &mut remove);
            if values.is_empty() {
                self.literals.remove(pattern.as_str());
            }
            return removed;
        }
        self.wildcards.remove_where(&mut pattern.tokens(), &mut remove)
    }

    /// Keeps the values for which `keep` answers true, whatever their pattern. Visits everything.
    pub fn retain(&mut self, mut keep: impl FnMut(&T) -> bool) {
        self.literals.retain(|_, values| {
            values.retain(&mut keep);
            !values.is_empty()
        });
        self.wildcards.retain(&mut keep);
    }

    /// Calls `found` with every value whose pattern selects the subject (S8).
    #[inline]
    pub fn for_each_match(&self, subject: &Subject, mut found: impl FnMut(&T)) {
        self.visit(subject, &mut found, &mut || ());
    }

    /// The values under exactly this pattern, in the order of their insertion.
    #[must_use]
    pub fn get(&self, pattern: &Pattern) -> &[T] {
        if let Some(values) = self.literals.get(pattern.as_str()) {
            return values;
        }
        let mut node = &self.wildcards;
        for token in pattern.tokens() {
            let next = match token {
                Token::Word(word) => node.words.get(word),
                Token::One => node.one.as_deref(),
                Token::Rest => return &node.rest,
            };
            match next {
                Some(next) => node = next,
                None => return &[],
            }
        }
        &node.here
    }

    /// Calls `f` with every value. Visits everything.
    pub fn for_each(&self, mut f: impl FnMut(&T)) {
        self.literals.values().flatten().for_each(&mut f);
        self.wildcards.for_each(&mut f);
    }

    /// How many values there are. Visits everything.
    #[must_use]
    pub fn len(&self) -> usize {
        let mut count = 0;
        self.for_each(|_| count += 1);
        count
    }

    /// Whether there is no value.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.literals.is_empty() && self.wildcards.is_empty()
    }

    /// The look-up; `probe` is called for every step of it, so that a test can count them.
    #[inline]
    fn visit(&self, subject: &Subject, found: &mut impl FnMut(&T), probe: &mut impl FnMut()) {
        probe();
        if let Some(values) = self.literals.get(subject) {
            values.iter().for_each(&mut *found);
        }
        self.wildcards.visit(Some(subject.as_str()), found, probe);
    }
}

impl<T> Default for PatternIndex<T> {
    fn default() -> Self {
        Self::new()
    }
}

/// Where a walk over patterns with wildcards stands after some tokens.
#[derive(Clone, Debug)]
struct Node<T> {
    /// Patterns that go on with this word.
    words: FxHashMap<Box<str>, Self>,
    /// Patterns that go on with `*`.
    one: Option<Box<Self>>,
    /// Patterns that end with `>` as the next token.
    rest: Vec<T>,
    /// Patterns that end here.
    here: Vec<T>,
}

impl<T> Node<T> {
    fn new() -> Self {
        Self { words: FxHashMap::default(), one: None, rest: Vec::new(), here: Vec::new() }
    }

    fn is_empty(&self) -> bool {
        self.words.is_empty() && self.one.is_none() && self.rest.is_empty() && self.here.is_empty()
    }

    /// `rest` is the part of the subject that has not been walked; none when it has ended.
    fn visit(&self, rest: Option<&str>, found: &mut impl FnMut(&T), probe: &mut impl FnMut()) {
        probe();
        let Some(rest) = rest else {
            self.here.iter().for_each(found);
            return;
        };
        self.rest.iter().for_each(&mut *found);
        if self.words.is_empty() && self.one.is_none() {
            return;
        }
        // A loop over bytes: tokens are short, and a general search for a substring costs more than it finds.
        let (token, rest) = match rest.bytes().position(|byte| byte == b'.') {
            Some(dot) => (&rest[..dot], Some(&rest[dot + 1..])),
            None => (rest, None),
        };
        if let Some(next) = self.words.get(token) {
            next.visit(rest, found, probe);
        }
        if let Some(next) = &self.one {
            next.visit(rest, found, probe);
        }
    }

    fn for_each(&self, f: &mut impl FnMut(&T)) {
        self.rest.iter().chain(&self.here).for_each(&mut *f);
        self.words.values().chain(self.one.as_deref()).for_each(|node| node.for_each(f));
    }

    fn remove_where<'p>(
        &mut self,
        pattern: &mut impl Iterator<Item = Token<'p>>,
        remove: &mut impl FnMut(&T) -> bool,
    ) -> usize {
        match pattern.next() {
            None => take_where(&mut self.here, remove),
            Some(Token::Rest) => take_where(&mut self.rest, remove),
            Some(Token::Word(word)) => {
                let Some(next) = self.words.get_mut(word) else {
                    return 0;
                };
                let removed = next.remove_where(pattern, remove);
                if next.is_empty() {
                    self.words.remove(word);
                }
                removed
            }
            Some(Token::One) => {
                let Some(next) = &mut self.one else { return 0 };
                let removed = next.remove_where(pattern, remove);
                self.one.take_if(|next| next.is_empty());
                removed
            }
        }
    }

    fn retain(&mut self, keep: &mut impl FnMut(&T) -> bool) {
        self.rest.retain(&mut *keep);
        self.here.retain(&mut *keep);
        self.words.retain(|_, node| {
            node.retain(keep);
            !node.is_empty()
        });
        if let Some(node) = &mut self.one {
            node.retain(keep);
        }
        self.one.take_if(|node| node.is_empty());
    }
}

/// Removes the values for which `remove` answers true, and says how many they were.
fn take_where<T>(values: &mut Vec<T>, remove: &mut impl FnMut(&T) -> bool) -> usize {
    let before = values.len();
    values.retain(|value| !remove(value));
    before - values.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One subscription that selects the subject below, among others that do not: half of them literal, the rest
    /// with wildcards in every position.
    fn crowd(size: usize) -> PatternIndex<usize> {
        let mut index = PatternIndex::new();
        for n in 1..size {
            let pattern = match n % 6 {
                0 => format!("orders.region{n}.*"),
                1 => format!("service{n}.>"),
                2 => format!("*.kind{n}.created"),
                _ => format!("orders.created.tenant{n}"),
            };
            index.insert(&Pattern::new(pattern).expect("generated"), n);
        }
        index.insert(&crate::pattern!("orders.*.tenant"), 0);
        index
    }

    #[test]
    fn the_work_of_a_look_up_does_not_grow_with_the_number_of_subscriptions() {
        let subject = crate::subject!("orders.created.tenant");
        let mut work = Vec::new();
        for size in [1, 1_000, 10_000] {
            let (mut found, mut steps) = (Vec::new(), 0);
            crowd(size).visit(&subject, &mut |n| found.push(*n), &mut || steps += 1);
            assert_eq!(found, [0], "among {size}");
            work.push(steps);
        }
        // Among one: the literals, the root, and one node for each of three tokens. The crowd adds the branch of
        // `*.kind7.created`, which is left at its second token.
        assert_eq!(work, [5, 6, 6]);
    }

    #[test]
    fn what_is_removed_leaves_no_empty_node_behind() {
        let mut index = crowd(1_000);
        assert_eq!(index.len(), 1_000);
        for n in 0..10 {
            index.insert(&crate::pattern!("a.*.b.>"), n);
        }
        assert_eq!(index.remove_where(&crate::pattern!("a.*.b.>"), |_| true), 10);
        assert!(!index.wildcards.words.contains_key("a"));
        index.retain(|_| false);
        assert!(index.is_empty() && index.literals.is_empty());
    }
}
