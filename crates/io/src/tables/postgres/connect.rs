//! Connects to a server. The policy's address has no password; it comes from where `psql` finds it.

use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use bosket_model::observe::Observer;
use bosket_model::{Diagnostic, Failure, Fault, Place, Result};
use postgres::config::{Host, SslMode};
use postgres::tls::{MakeTlsConnect, TlsConnect};
use postgres::{Client, Config, NoTls, Socket};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::{failure, pgpass};
use crate::stop::TICK;
use crate::tables::backend::Interrupt;

/// How long a server may take to answer at all.
const PATIENCE: Duration = Duration::from_secs(20);

/// Dates, times and numbers are spelt the same way whatever the server's settings are.
const SPELLING: &str = "SET datestyle = 'ISO, YMD'; SET timezone = 'UTC'; SET intervalstyle = 'iso_8601'; \
                        SET extra_float_digits = 1; SET client_encoding = 'UTF8'; SET lc_monetary = 'C'";

/// An address taken apart.
struct Address {
    config: Config,
    /// What messages call it.
    name: String,
    /// The file of certificates to trust; the system's if not given. None if TLS is not asked for.
    tls: Option<Option<String>>,
}

fn wrong(message: String, help: &str) -> Failure {
    Failure::new(Fault::Policy, Diagnostic::error(message).help(help))
}

/// Takes an address apart; the driver does not know all of libpq's ways to ask for TLS.
fn address(url: &str) -> Result<Address> {
    let (plain, query) = url.split_once('?').unwrap_or((url, ""));
    let (mut rest, mut mode, mut roots) = (Vec::new(), None, None);
    for part in query.split('&').filter(|p| !p.is_empty()) {
        match part.split_once('=') {
            Some(("sslmode", value)) => mode = Some(value),
            Some(("sslrootcert", value)) => roots = Some(value.to_owned()),
            _ => rest.push(part),
        }
    }
    let tls = match mode {
        None | Some("disable" | "allow" | "prefer") => None,
        Some("require" | "verify-ca" | "verify-full") => Some(roots),
        Some(other) => {
            let help = "use disable, or require: the server's certificate is always checked then";
            return Err(wrong(format!("`sslmode={other}` is not known"), help));
        }
    };
    let plain = if rest.is_empty() { plain.to_owned() } else { format!("{plain}?{}", rest.join("&")) };
    let mut config: Config = plain.parse().map_err(|_| {
        wrong("this is not the address of a database".to_owned(), "write postgres://user@host/database")
    })?;
    let variable = |name: &str| std::env::var(name).ok().filter(|v| !v.is_empty());
    if config.get_hosts().is_empty() {
        config.host(variable("PGHOST").as_deref().unwrap_or("localhost"));
    }
    if config.get_user().is_none() {
        let user = variable("PGUSER").or_else(|| variable("USER"));
        let help = "write postgres://user@host/database, or set PGUSER";
        config.user(&user.ok_or_else(|| wrong("the address names no user".to_owned(), help))?);
    }
    let database = config.get_dbname().or(config.get_user()).unwrap_or_default().to_owned();
    config.dbname(&database);
    let host = match &config.get_hosts()[0] {
        Host::Tcp(host) => host.clone(),
        Host::Unix(path) => path.display().to_string(),
    };
    let port = config.get_ports().first().copied().unwrap_or(5432);
    let name = format!("postgres://{host}:{port}/{database}");
    if config.get_password().is_none() {
        let user = config.get_user().unwrap_or_default().to_owned();
        if let Some(password) = variable("PGPASSWORD").or_else(|| pgpass::find(&host, port, &database, &user))
        {
            config.password(password);
        }
    }
    config.application_name("bosket");
    if config.get_connect_timeout().is_none() {
        config.connect_timeout(PATIENCE);
    }
    config.ssl_mode(if tls.is_some() { SslMode::Require } else { SslMode::Disable });
    Ok(Address { config, name, tls })
}

/// A connection.
pub(super) struct Connected {
    pub(super) client: Client,
    /// What messages call the database.
    pub(super) name: String,
    /// Asks the server to give up what it is doing for this connection.
    pub(super) interrupt: Interrupt,
}

/// Connects, unless somebody loses patience before the server answers.
pub(super) fn connect(url: &str, observer: &dyn Observer) -> Result<Connected> {
    let (sender, receiver) = mpsc::channel();
    let url = url.to_owned();
    // Nobody takes what comes too late; the connection is closed then.
    std::thread::spawn(move || drop(sender.send(connect_now(&url))));
    loop {
        observer.go_on()?;
        match receiver.recv_timeout(TICK) {
            Ok(connected) => return connected,
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                return Err(Failure::defect("connecting ended without a result"));
            }
        }
    }
}

fn connect_now(url: &str) -> Result<Connected> {
    let Address { config, name, tls } = address(url)?;
    match tls {
        None => connect_with(&config, name, NoTls),
        Some(roots) => {
            let trusted = trust(roots.as_deref(), &name)?;
            connect_with(&config, name, MakeRustlsConnect::new(trusted))
        }
    }
}

fn connect_with<T>(config: &Config, name: String, tls: T) -> Result<Connected>
where
    T: MakeTlsConnect<Socket> + Clone + Send + Sync + 'static,
    T::TlsConnect: Send,
    T::Stream: Send,
    <T::TlsConnect as TlsConnect<Socket>>::Future: Send,
{
    let mut client = config.connect(tls.clone()).map_err(|e| failure(&name, &e))?;
    client.batch_execute(SPELLING).map_err(|e| failure(&name, &e))?;
    let token = client.cancel_token();
    // A request that does not reach the server is made again.
    let interrupt = Arc::new(move || drop(token.cancel_query(tls.clone())));
    Ok(Connected { client, name, interrupt })
}

/// Whom to trust to vouch for a server.
fn trust(roots: Option<&str>, name: &str) -> Result<ClientConfig> {
    let untrusted = |what: String, help: &str| {
        let what = Diagnostic::error(what).at(Place::source(name));
        Failure::new(Fault::Environment, what.help(help))
    };
    let mut store = RootCertStore::empty();
    match roots {
        Some(file) => {
            let unreadable =
                || untrusted(format!("no certificate can be read from {file}"), "check `sslrootcert`");
            for certificate in CertificateDer::pem_file_iter(file).map_err(|_| unreadable())? {
                let certificate = certificate.map_err(|_| unreadable())?;
                store.add(certificate).map_err(|_| unreadable())?;
            }
        }
        None => {
            store.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        }
    }
    if store.is_empty() {
        let help = "name a file with `sslrootcert=`, or install the system's certificates";
        return Err(untrusted("there is no certificate to trust".to_owned(), help));
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let builder = builder.map_err(|e| untrusted(format!("TLS cannot be set up: {e}"), "report this"))?;
    Ok(builder.with_root_certificates(store).with_no_client_auth())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_taken_apart() {
        let plain = address("postgres://ann@db.example:5433/clinic").expect("an address");
        assert_eq!(plain.name, "postgres://db.example:5433/clinic");
        assert_eq!(plain.config.get_user(), Some("ann"));
        assert!(plain.tls.is_none());
        let tls = address("postgres://ann@db/c?sslmode=verify-full&connect_timeout=3&sslrootcert=ca.pem");
        let tls = tls.expect("an address");
        assert_eq!(tls.tls, Some(Some("ca.pem".to_owned())));
        assert_eq!(tls.config.get_connect_timeout(), Some(&Duration::from_secs(3)));
        for broken in
            ["postgres://ann@db/c?sslmode=perhaps", "postgres://ann@db:port/c", "postgres://ann@db/c?x=1"]
        {
            assert!(address(broken).is_err(), "{broken}");
        }
    }
}
