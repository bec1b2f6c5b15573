//! Who may ask: whoever has the address that was printed, once, and then the cookie; programs by `Authorization`.

use std::sync::Mutex;

use axum::http::{HeaderMap, header};

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

/// The two secrets of a server.
pub(crate) struct Secrets {
    /// What the address holds. Programs go on with it.
    address: Token,
    /// What the cookie holds.
    cookie: Token,
    used: Mutex<bool>,
    name: String,
}

impl Secrets {
    pub(crate) fn new(port: u16) -> std::io::Result<Self> {
        let name = format!("bosket-{port}");
        Ok(Secrets { address: Token::new()?, cookie: Token::new()?, used: Mutex::new(false), name })
    }

    pub(crate) fn address(&self) -> &Token {
        &self.address
    }

    /// The cookie for whoever comes with the address, the first time.
    pub(crate) fn enter(&self, guess: &str) -> Option<String> {
        let mut used = self.used.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let enters = self.address.is(guess) && !std::mem::replace(&mut used, true);
        enters.then(|| format!("{}={}; HttpOnly; SameSite=Strict; Path=/", self.name, self.cookie.text()))
    }

    /// Whether a request comes from whoever entered.
    pub(crate) fn knows_cookie(&self, headers: &HeaderMap) -> bool {
        let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
        cookies
            .flat_map(|line| line.split(';'))
            .filter_map(|pair| pair.trim().split_once('='))
            .any(|(name, value)| name == self.name && self.cookie.is(value))
    }

    /// Whether a request comes from a program that was told the secret.
    pub(crate) fn knows_bearer(&self, headers: &HeaderMap) -> bool {
        let value = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
        value.and_then(|value| value.strip_prefix("Bearer ")).is_some_and(|guess| self.address.is(guess))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_works_once() {
        let secrets = Secrets::new(1).expect("random bytes");
        let address = secrets.address().text().to_owned();
        assert!(secrets.enter("wrong").is_none());
        assert!(secrets.enter(&address[1..]).is_none());
        assert!(secrets.enter(&address).is_some());
        assert!(secrets.enter(&address).is_none());
    }
}
