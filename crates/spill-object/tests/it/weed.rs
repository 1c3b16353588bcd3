//! A real S3 server on the loopback interface: `SeaweedFS`, where it is
//! installed.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};

use camino::Utf8Path;

const BUCKET: &str = "bucket";
/// Master, volume server, filer and S3, each with a port for gRPC.
const PORTS: usize = 8;
const IDENTITIES: &str = r#"{"identities":[{"name":"test",
    "credentials":[{"accessKey":"key","secretKey":"secret"}],
    "actions":["Admin","Read","Write","List","Tagging"]}]}"#;

/// A running server with a bucket. It ends with the value.
#[derive(Debug)]
pub(crate) struct Weed {
    dir: tempfile::TempDir,
    ports: Vec<u16>,
    child: Option<Child>,
}

impl Weed {
    /// Starts a server; `None`, with a message, where there is no `weed`.
    pub(crate) fn start() -> Option<Self> {
        let found = Command::new("weed").arg("version").stdout(Stdio::null()).status();
        if !found.is_ok_and(|status| status.success()) {
            println!("skipped: no `weed` on the PATH; `.ci/run` installs it");
            return None;
        }
        let mut weed = Self { dir: tempfile::tempdir().unwrap(), ports: free_ports(), child: None };
        fs_err::create_dir(weed.path().join("data")).unwrap();
        fs_err::write(weed.path().join("s3.json"), IDENTITIES).unwrap();
        weed.run();
        weed.make_bucket();
        Some(weed)
    }

    fn path(&self) -> &Utf8Path {
        Utf8Path::from_path(self.dir.path()).unwrap()
    }

    /// What configures a client of it.
    pub(crate) fn environment(&self) -> Vec<(String, String)> {
        let endpoint = format!("http://127.0.0.1:{}", self.ports[6]);
        [
            ("AWS_ACCESS_KEY_ID", "key"),
            ("AWS_SECRET_ACCESS_KEY", "secret"),
            ("AWS_REGION", "us-east-1"),
            ("AWS_ENDPOINT", &endpoint),
            ("AWS_ALLOW_HTTP", "true"),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .to_vec()
    }

    pub(crate) fn url() -> String {
        format!("s3://{BUCKET}/spill")
    }

    /// Ends it at once, as a crash would.
    pub(crate) fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }

    /// Runs it, on what it had before, until it answers.
    pub(crate) fn run(&mut self) {
        let ports = &self.ports;
        let mut command = Command::new("weed");
        command.arg("-logtostderr=true").arg("server").current_dir(self.dir.path());
        command.args(["-dir=data", "-ip=127.0.0.1", "-ip.bind=127.0.0.1", "-volume.max=8"]);
        command.args(["-filer", "-s3", "-s3.config=s3.json", "-master.telemetry=false"]);
        command.args(["-s3.port.iceberg=0", "-s3.port.lance=0"]);
        // A master that died comes back after this.
        command.arg("-master.electionTimeout=1s");
        for (server, ports) in ["master", "volume", "filer", "s3"].iter().zip(ports.chunks(2)) {
            command.arg(format!("-{server}.port={}", ports[0]));
            command.arg(format!("-{server}.port.grpc={}", ports[1]));
        }
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut log = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        while !line.contains("Start Seaweed S3 API Server") {
            line.clear();
            assert_ne!(log.read_line(&mut line).unwrap(), 0, "weed ended before it answered");
        }
        // What it writes later must not fill the pipe.
        std::thread::spawn(move || std::io::copy(&mut log, &mut std::io::sink()));
        self.child = Some(child);
    }

    /// A bucket is a directory of the filer.
    fn make_bucket(&self) {
        let mut filer = TcpStream::connect(("127.0.0.1", self.ports[4])).unwrap();
        let request = format!(
            "POST /buckets/{BUCKET}/ HTTP/1.1\r\nHost: filer\r\nContent-Length: 0\r\nConnection: \
             close\r\n\r\n"
        );
        filer.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        filer.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 201"), "{answer}");
    }
}

impl Drop for Weed {
    fn drop(&mut self) {
        self.kill();
        // Sockets that it makes for itself and leaves.
        for port in &self.ports {
            for server in ["master", "volume", "filer", "s3"] {
                for kind in ["", "-grpc"] {
                    let _ =
                        fs_err::remove_file(format!("/tmp/seaweedfs-{server}{kind}-{port}.sock"));
                }
            }
        }
    }
}

/// Ports that are free now. Another may take one before the server does; then
/// it does not start, and says so.
fn free_ports() -> Vec<u16> {
    let held: Vec<TcpListener> =
        (0..PORTS).map(|_| TcpListener::bind(("127.0.0.1", 0)).unwrap()).collect();
    held.iter().map(|listener| listener.local_addr().unwrap().port()).collect()
}
