//! Who may ask: whoever has the address that was printed, once, and then the session that it was changed for; programs by the
//! address itself. Both are told in a header. A cookie would go to every port of this machine, whoever listens there.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use axum::http::{HeaderMap, header};

use crate::jobs::locked;

/// How long a ticket waits for the browser to come with it.
const SOON: Duration = Duration::from_secs(60);
/// Tickets that wait at once.
const MOST_TICKETS: usize = 64;

/// 256 bits as text.
#[derive(Clone)]
pub(crate) struct Token(String);

impl Token {
    pub(crate) fn new() -> std::io::Result<Self> {
        let mut bytes = [0u8; 32];
        getrandom::fill(&mut bytes).map_err(std::io::Error::other)?;
        Ok(Token(bytes.iter().map(|byte| format!("{byte:02x}")).collect()))
    }

    pub(crate) fn text(&self) -> &str {
        &self.0
    }

    /// Takes as long for every wrong guess.
    pub(crate) fn is(&self, guess: &str) -> bool {
        let (own, guess) = (self.0.as_bytes(), guess.as_bytes());
        let differing = own.iter().zip(guess).fold(0, |all, (a, b)| all | (a ^ b));
        own.len() == guess.len() && std::hint::black_box(differing) == 0
    }
}

/// What a server keeps to itself.
pub(crate) struct Secrets {
    /// What the address holds. Programs go on with it.
    address: Token,
    /// What pages go on with.
    session: Token,
    used: Mutex<bool>,
    /// Files that a browser may fetch once, without a header, which it cannot send when it saves a file.
    tickets: Mutex<BTreeMap<String, (PathBuf, Instant)>>,
}

impl Secrets {
    pub(crate) fn new() -> std::io::Result<Self> {
        let (used, tickets) = (Mutex::new(false), Mutex::default());
        Ok(Secrets { address: Token::new()?, session: Token::new()?, used, tickets })
    }

    pub(crate) fn address(&self) -> &Token {
        &self.address
    }

    /// The session for whoever comes with the address, the first time.
    pub(crate) fn enter(&self, guess: &str) -> Option<&str> {
        let mut used = locked(&self.used);
        let enters = self.address.is(guess) && !std::mem::replace(&mut used, true);
        enters.then(|| self.session.text())
    }

    /// Whether a request comes from a page that has entered, or from a program that was told the address.
    pub(crate) fn knows(&self, headers: &HeaderMap) -> bool {
        let value = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
        let guess = value.and_then(|value| value.strip_prefix("Bearer "));
        // Both are compared, so that nobody learns which one a guess was like.
        guess.is_some_and(|guess| self.address.is(guess) | self.session.is(guess))
    }

    /// A ticket for a file.
    pub(crate) fn ticket(&self, file: PathBuf) -> std::io::Result<String> {
        let token = Token::new()?.text().to_owned();
        let mut tickets = locked(&self.tickets);
        tickets.retain(|_, (_, made)| made.elapsed() < SOON);
        if tickets.len() >= MOST_TICKETS {
            return Err(std::io::Error::other("too many tickets"));
        }
        tickets.insert(token.clone(), (file, Instant::now()));
        Ok(token)
    }

    /// The file of a ticket, which ends with it.
    pub(crate) fn redeem(&self, ticket: &str) -> Option<PathBuf> {
        let (file, made) = locked(&self.tickets).remove(ticket)?;
        (made.elapsed() < SOON).then_some(file)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_works_once() {
        let secrets = Secrets::new().expect("random bytes");
        let address = secrets.address().text().to_owned();
        assert!(secrets.enter("wrong").is_none());
        assert!(secrets.enter(&address[1..]).is_none());
        assert!(secrets.enter(&address).is_some());
        assert!(secrets.enter(&address).is_none());
    }

    #[test]
    fn a_ticket_works_once_and_for_its_file() {
        let secrets = Secrets::new().expect("random bytes");
        let ticket = secrets.ticket(PathBuf::from("a")).expect("random bytes");
        assert!(secrets.redeem(&ticket[1..]).is_none());
        assert_eq!(secrets.redeem(&ticket), Some(PathBuf::from("a")));
        assert!(secrets.redeem(&ticket).is_none());
    }
}
