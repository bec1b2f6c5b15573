//! A PostgreSQL server of a test's own: on a free port, in a scratch folder, as an unprivileged user.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use tempfile::TempDir;

/// Where Debian keeps the server's programs.
const PROGRAMS: &str = "/usr/lib/postgresql/15/bin";

/// The password of the server's superuser, `bosket`.
pub const PASSWORD: &str = "not: a secret\\";

/// A running server; gone with everything in it when dropped.
#[derive(Debug)]
pub struct Server {
    folder: TempDir,
    port: u16,
    process: Option<Child>,
    /// Whom to run as, when the test runs as root: PostgreSQL refuses to.
    user: Option<(u32, u32)>,
}

fn program(name: &str) -> PathBuf {
    Path::new(PROGRAMS).join(name)
}

/// The user `nobody`, if this process is root's.
fn unprivileged(folder: &Path) -> Option<(u32, u32)> {
    let root = fs::metadata(folder).expect("a folder").uid() == 0;
    let users = fs::read_to_string("/etc/passwd").unwrap_or_default();
    let nobody = users.lines().find(|l| l.starts_with("nobody:")).unwrap_or("nobody:x:65534:65534");
    let mut numbers = nobody.split(':').skip(2).map(|n| n.parse().expect("a number"));
    root.then(|| (numbers.next().expect("a user"), numbers.next().expect("a group")))
}

impl Server {
    /// Starts a server that lets everybody in from this machine (`trust`) or asks for a password (`scram-sha-256`);
    /// says so and gives none where PostgreSQL is not installed.
    pub fn start(auth: &str) -> Option<Server> {
        if !program("postgres").exists() {
            eprintln!("skipped: PostgreSQL 15 is not installed in {PROGRAMS}");
            return None;
        }
        let folder = TempDir::new().expect("a folder");
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).expect("permissions");
        let user = unprivileged(folder.path());
        let mut server = Server { folder, port: 0, process: None, user };
        for name in ["data", "socket"] {
            server.give(name, |path| fs::create_dir(path).expect("a folder"));
        }
        server.give("password", |path| fs::write(path, PASSWORD).expect("a file"));
        let made = server
            .command("initdb")
            .args([
                "--username=bosket",
                "--encoding=UTF8",
                "--locale=C",
                "--no-sync",
                &format!("--auth={auth}"),
            ])
            .arg(format!("--pwfile={}", server.path("password").display()))
            .arg(server.path("data"))
            .output()
            .expect("initdb runs");
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        server.run(&[]);
        Some(server)
    }

    /// Makes something in the server's folder that the server's user owns.
    pub fn give(&self, name: &str, make: impl FnOnce(&Path)) {
        let path = self.path(name);
        make(&path);
        if let Some((user, group)) = self.user {
            chown(&path, Some(user), Some(group)).expect("an owner");
        }
    }

    /// A path in the server's folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn command(&self, name: &str) -> Command {
        let mut command = Command::new(program(name));
        command.current_dir(self.folder.path()).env("LC_ALL", "C");
        if let Some((user, group)) = self.user {
            command.uid(user).gid(group);
        }
        command
    }

    /// Runs the server, with more settings, and waits until it answers.
    pub fn run(&mut self, settings: &[&str]) {
        if self.port == 0 {
            let free = TcpListener::bind("127.0.0.1:0").expect("a free port");
            self.port = free.local_addr().expect("an address").port();
        }
        for _ in 0..40 {
            let log = fs::File::create(self.path("log")).expect("a file");
            let mut command = self.command("postgres");
            command.arg("-D").arg(self.path("data")).arg("-k").arg(self.path("socket"));
            command.args([
                "-p",
                &self.port.to_string(),
                "-c",
                "listen_addresses=127.0.0.1",
                "-c",
                "fsync=off",
            ]);
            for setting in settings {
                command.args(["-c", setting]);
            }
            let mut process = command.stdout(Stdio::null()).stderr(log).spawn().expect("the server starts");
            for _ in 0..100 {
                std::thread::sleep(Duration::from_millis(50));
                if process.try_wait().expect("a process").is_some() {
                    break;
                }
                let ready = Command::new(program("pg_isready"))
                    .args(["-q", "-h", "127.0.0.1", "-p", &self.port.to_string()])
                    .status();
                if ready.is_ok_and(|s| s.success()) {
                    self.process = Some(process);
                    return;
                }
            }
            // What a killed server left behind may need a moment to go.
            let _ = process.kill();
            let _ = process.wait();
            std::thread::sleep(Duration::from_millis(250));
        }
        panic!("the server does not start: {}", fs::read_to_string(self.path("log")).unwrap_or_default());
    }

    /// Kills the server and all its processes, as a power cut would: what was not committed must be gone afterwards.
    pub fn kill(&mut self) {
        if let Some(mut process) = self.process.take() {
            let data = self.path("data");
            let stopped =
                self.command("pg_ctl").args(["stop", "-s", "-m", "immediate", "-D"]).arg(data).status();
            if !stopped.is_ok_and(|s| s.success()) {
                let _ = process.kill();
            }
            process.wait().expect("a process");
        }
    }

    /// The address of a database, for the superuser, without a password.
    pub fn url(&self, database: &str) -> String {
        self.url_of("bosket", database)
    }

    /// The address of a database for another user.
    pub fn url_of(&self, user: &str, database: &str) -> String {
        format!("postgres://{user}@localhost:{}/{database}", self.port)
    }

    /// The port it listens on.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Runs SQL in a database and gives what it prints, one line per row, cells parted by `|`.
    #[track_caller]
    pub fn sql(&self, database: &str, sql: &str) -> Vec<String> {
        let output = Command::new(program("psql"))
            .args(["-h", "127.0.0.1", "-p", &self.port.to_string(), "-U", "bosket", "-d", database])
            .args(["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-c", sql])
            .env("PGPASSWORD", PASSWORD)
            .output()
            .expect("psql runs");
        assert!(output.status.success(), "{sql}\n{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}
