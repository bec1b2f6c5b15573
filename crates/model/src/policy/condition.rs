//! `source.where`: which people a run is about, as a condition on values that stand once per person.
//!
//! ```text
//! country = 'DE' and (year >= 2010 or not `date of birth` is missing)
//! ```

use std::ops::Range;

use crate::calendar::Civil;

/// A condition that a person meets or not.
#[derive(Clone, Debug, PartialEq)]
pub enum Condition {
    /// Both hold.
    And(Box<Condition>, Box<Condition>),
    /// One of them holds.
    Or(Box<Condition>, Box<Condition>),
    /// It does not hold.
    Not(Box<Condition>),
    /// The person has no value there.
    Missing(String),
    /// The person has a value there that compares so. Whoever has none meets no comparison.
    Compare {
        /// Path of the attribute.
        path: String,
        /// How it compares.
        comparison: Comparison,
        /// With what.
        with: Operand,
    },
}

/// How two values compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// `=`
    Equal,
    /// `!=`
    Unequal,
    /// `<`
    Less,
    /// `<=`
    AtMost,
    /// `>`
    More,
    /// `>=`
    AtLeast,
}

/// What a value is compared with; it says how the value is read, too.
#[derive(Clone, Debug, PartialEq)]
pub enum Operand {
    /// A number.
    Number(f64),
    /// A day.
    Day(Civil),
    /// A text, letter for letter.
    Text(String),
}

impl Comparison {
    const ALL: [(&'static str, Comparison); 6] = [
        ("!=", Comparison::Unequal),
        ("<=", Comparison::AtMost),
        (">=", Comparison::AtLeast),
        ("=", Comparison::Equal),
        ("<", Comparison::Less),
        (">", Comparison::More),
    ];

    /// Whether it holds for two values in this order.
    pub fn holds(self, order: std::cmp::Ordering) -> bool {
        match self {
            Comparison::Equal => order.is_eq(),
            Comparison::Unequal => order.is_ne(),
            Comparison::Less => order.is_lt(),
            Comparison::AtMost => order.is_le(),
            Comparison::More => order.is_gt(),
            Comparison::AtLeast => order.is_ge(),
        }
    }
}

/// What is wrong with a condition, and where in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Problem {
    pub(super) range: Range<usize>,
    pub(super) message: String,
}

impl Condition {
    /// Reads a condition.
    pub(super) fn parse(text: &str) -> Result<Condition, Problem> {
        let mut parser = Parser { tokens: tokens(text)?, at: 0, end: text.len(), depth: 0 };
        let condition = parser.either()?;
        match parser.tokens.get(parser.at) {
            None => Ok(condition),
            Some((range, _)) => Err(problem(range.clone(), "`and` or `or` is expected here")),
        }
    }

    /// The paths that it asks for, each as often as it does.
    pub fn paths(&self) -> Vec<&str> {
        match self {
            Condition::And(a, b) | Condition::Or(a, b) => [a.paths(), b.paths()].concat(),
            Condition::Not(a) => a.paths(),
            Condition::Missing(path) | Condition::Compare { path, .. } => vec![path],
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
enum Token {
    /// A path or a keyword.
    Word(String),
    /// A path in backticks or double quotes.
    Quoted(String),
    Operand(Operand),
    Comparison(Comparison),
    Open,
    Close,
}

fn problem(range: Range<usize>, message: &str) -> Problem {
    Problem { range, message: message.to_owned() }
}

fn tokens(text: &str) -> Result<Vec<(Range<usize>, Token)>, Problem> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        let rest = &text[at..];
        let (len, token) = match c {
            c if c.is_whitespace() => {
                at += c.len_utf8();
                continue;
            }
            '(' => (1, Token::Open),
            ')' => (1, Token::Close),
            '\'' | '"' | '`' => {
                let (len, inner) = quoted(rest, c).ok_or_else(|| {
                    problem(at..text.len(), &format!("the {c} that opens here is not closed"))
                })?;
                (len, if c == '\'' { Token::Operand(Operand::Text(inner)) } else { Token::Quoted(inner) })
            }
            _ => match Comparison::ALL.iter().find(|(sign, _)| rest.starts_with(sign)) {
                Some((sign, comparison)) => (sign.len(), Token::Comparison(*comparison)),
                None => {
                    let ends = |c: char| c.is_whitespace() || "()'\"`=<>!".contains(c);
                    let len = rest.find(ends).unwrap_or(rest.len());
                    if len == 0 {
                        return Err(problem(at..at + c.len_utf8(), "this stands for nothing"));
                    }
                    (len, word(&rest[..len]).map_err(|message| problem(at..at + len, message))?)
                }
            },
        };
        found.push((at..at + len, token));
        at += len;
    }
    Ok(found)
}

/// What stands in quotes; a quote inside is written twice.
fn quoted(rest: &str, quote: char) -> Option<(usize, String)> {
    let mut inner = String::new();
    let mut chars = rest.char_indices().skip(1).peekable();
    while let Some((at, c)) = chars.next() {
        if c != quote {
            inner.push(c);
        } else if chars.peek().is_some_and(|(_, next)| *next == quote) {
            chars.next();
            inner.push(c);
        } else {
            return Some((at + 1, inner));
        }
    }
    None
}

fn word(text: &str) -> Result<Token, &'static str> {
    let number_like = text.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c));
    if !number_like {
        return Ok(Token::Word(text.to_owned()));
    }
    if let Some(day) = Civil::parse(text) {
        return Ok(Token::Operand(Operand::Day(day)));
    }
    let number = text.parse::<f64>().ok().filter(|number| number.is_finite());
    let number = number.ok_or("this is neither a number nor a day YYYY-MM-DD; text stands in 'quotes'")?;
    Ok(Token::Operand(Operand::Number(number)))
}

/// Parentheses and `not`s inside each other at most.
const DEEPEST: usize = 100;

struct Parser {
    tokens: Vec<(Range<usize>, Token)>,
    at: usize,
    end: usize,
    depth: usize,
}

impl Parser {
    fn here(&self) -> Range<usize> {
        self.tokens.get(self.at).map_or(self.end..self.end, |(range, _)| range.clone())
    }

    fn fail<T>(&self, message: &str) -> Result<T, Problem> {
        Err(problem(self.here(), message))
    }

    fn keyword(&mut self, keyword: &str) -> bool {
        let found = match self.tokens.get(self.at) {
            Some((_, Token::Word(word))) => word.eq_ignore_ascii_case(keyword),
            _ => false,
        };
        self.at += usize::from(found);
        found
    }

    fn either(&mut self) -> Result<Condition, Problem> {
        let mut all = self.both()?;
        while self.keyword("or") {
            all = Condition::Or(Box::new(all), Box::new(self.both()?));
        }
        Ok(all)
    }

    fn both(&mut self) -> Result<Condition, Problem> {
        let mut all = self.single()?;
        while self.keyword("and") {
            all = Condition::And(Box::new(all), Box::new(self.single()?));
        }
        Ok(all)
    }

    fn single(&mut self) -> Result<Condition, Problem> {
        if self.depth == DEEPEST {
            return self.fail("this is nested too deeply");
        }
        self.depth += 1;
        let found = if self.keyword("not") {
            Condition::Not(Box::new(self.single()?))
        } else if let Some((_, Token::Open)) = self.tokens.get(self.at) {
            self.at += 1;
            let inner = self.either()?;
            if !matches!(self.tokens.get(self.at), Some((_, Token::Close))) {
                return self.fail("`)` is expected here");
            }
            self.at += 1;
            inner
        } else {
            self.comparison()?
        };
        self.depth -= 1;
        Ok(found)
    }

    fn comparison(&mut self) -> Result<Condition, Problem> {
        let path = match self.tokens.get(self.at) {
            Some((_, Token::Word(word))) if !is_keyword(word) => word.clone(),
            Some((_, Token::Quoted(path))) => path.clone(),
            Some((_, Token::Operand(_))) => {
                return self.fail("the path of an attribute is expected here, the value to the right of it");
            }
            _ => return self.fail("the path of an attribute is expected here"),
        };
        self.at += 1;
        if self.keyword("is") {
            let not = self.keyword("not");
            if !self.keyword("missing") {
                return self.fail("`missing` is expected here");
            }
            let missing = Condition::Missing(path);
            return Ok(if not { Condition::Not(Box::new(missing)) } else { missing });
        }
        let Some((_, Token::Comparison(comparison))) = self.tokens.get(self.at) else {
            return self.fail("one of = != < <= > >=, or `is missing`, is expected here");
        };
        let comparison = *comparison;
        self.at += 1;
        let with = match self.tokens.get(self.at) {
            Some((_, Token::Operand(with))) => with.clone(),
            Some((_, Token::Word(word))) if word == "true" || word == "false" => Operand::Text(word.clone()),
            _ => {
                return self.fail("a number, a day YYYY-MM-DD or a text in 'single quotes' is expected here");
            }
        };
        self.at += 1;
        Ok(Condition::Compare { path, comparison, with })
    }
}

fn is_keyword(word: &str) -> bool {
    ["and", "or", "not", "is", "missing"].iter().any(|keyword| word.eq_ignore_ascii_case(keyword))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_bind_as_everywhere() {
        let condition = Condition::parse("a = 1 or b != 'it''s' and not `c d` is missing").expect("read");
        let Condition::Or(first, rest) = condition else { panic!("or is weakest") };
        let with = Operand::Number(1.0);
        assert_eq!(*first, Condition::Compare { path: "a".into(), comparison: Comparison::Equal, with });
        let Condition::And(text, missing) = *rest else { panic!("and binds stronger") };
        let with = Operand::Text("it's".into());
        assert_eq!(*text, Condition::Compare { path: "b".into(), comparison: Comparison::Unequal, with });
        assert_eq!(*missing, Condition::Not(Box::new(Condition::Missing("c d".into()))));
    }

    #[test]
    fn days_are_not_differences() {
        let condition = Condition::parse("(born>=2010-01-31)").expect("read");
        let with = Operand::Day(Civil::new(2010, 1, 31).expect("a day"));
        assert_eq!(
            condition,
            Condition::Compare { path: "born".into(), comparison: Comparison::AtLeast, with }
        );
    }

    #[test]
    fn what_cannot_be_read_is_pointed_at() {
        for (text, range, message) in [
            ("a = 'x", 4..6, "not closed"),
            ("a 1", 2..3, "one of ="),
            ("a = b", 4..5, "a number, a day"),
            ("a = 1 b = 2", 6..7, "`and` or `or`"),
            ("(a = 1", 6..6, "`)`"),
            ("1 = a", 0..1, "to the right"),
            ("a = 2010-02-31", 4..14, "neither a number"),
            ("a is gone", 5..9, "`missing`"),
            ("", 0..0, "the path"),
            ("a = 1 and", 9..9, "the path"),
            ("a ! 1", 2..3, "stands for nothing"),
        ] {
            let problem = Condition::parse(text).expect_err(text);
            assert_eq!(problem.range, range, "{text}");
            assert!(problem.message.contains(message), "{text}: {}", problem.message);
        }
        assert!(Condition::parse(&"(".repeat(10_000)).is_err());
        assert!(Condition::parse(&"not ".repeat(10_000)).is_err());
    }
}
