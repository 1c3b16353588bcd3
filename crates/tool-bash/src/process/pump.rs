//! One output pipe and its channel.
//!
//! Responsible for carrying every byte of a pipe to its channel in order, and
//! for deciding when a pipe that does not end is given up.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

use bytes::BytesMut;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::ioctl_fionread;
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe::Receiver;
use tokio::sync::watch;
use tokio::time::{Instant, sleep};
use tool_api::ChannelHandle;

use super::{OutputObserver, OutputStream};

/// How much is allocated at once, in bytes. Small reads share it.
///
/// Always fresh memory: the writer's core has the old in its cache, and taking
/// it back costs more than clearing new pages does (docs/performance.md).
const BUFFER_BYTES: usize = 256 * 1024;
/// The least room that a read gets, in bytes.
const MIN_READ_BYTES: usize = 64 * 1024;
/// How much the pipe of a command that writes much should hold, in bytes: what
/// an unprivileged process may ask for.
#[cfg(target_os = "linux")]
const PIPE_BYTES: usize = 1024 * 1024;
/// What a command has written by then, in bytes: as much as a pipe holds that
/// nobody has asked for more. Making and freeing a large one takes 0.1 ms.
const MUCH_BYTES: u64 = 64 * 1024;

/// Where the run is, as far as reading is concerned.
#[derive(Debug, Clone, Copy)]
pub(super) enum Phase {
    /// The command may still write.
    Running,
    /// The command has ended; others may have `grace` to close the pipe.
    Ended { grace: Duration },
}

/// Carries one pipe.
#[derive(Debug)]
pub(super) struct Pump {
    pipe: Receiver,
    channel: ChannelHandle,
    from: OutputStream,
    observer: Option<Arc<dyn OutputObserver>>,
    phase: watch::Receiver<Phase>,
    buffer: BytesMut,
    /// What the pipe has given, in bytes.
    carried: u64,
}

/// Whether the pipe has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pipe {
    Ended,
    Open,
}

impl Pump {
    pub(super) fn new(
        pipe: OwnedFd,
        channel: ChannelHandle,
        from: OutputStream,
        observer: Option<Arc<dyn OutputObserver>>,
        phase: watch::Receiver<Phase>,
    ) -> io::Result<Self> {
        let pipe = Receiver::from_owned_fd(pipe)?;
        Ok(Self { pipe, channel, from, observer, phase, buffer: BytesMut::new(), carried: 0 })
    }

    /// Carries everything. Returns whether the pipe was still held open when
    /// reading it stopped.
    pub(super) async fn run(mut self) -> bool {
        // Reading a pipe does not fail; if it does, there may have been more.
        self.carry().await.unwrap_or(Pipe::Open) == Pipe::Open
    }

    async fn carry(&mut self) -> io::Result<Pipe> {
        if self.while_running().await? == Pipe::Ended {
            return Ok(Pipe::Ended);
        }
        // What lies in the pipe now is the command's own, and is taken however
        // long the channel needs for it. All that comes later is not.
        if self.what_is_there().await? == Pipe::Ended || self.grace().await? == Pipe::Ended {
            return Ok(Pipe::Ended);
        }
        if self.has_writers()? { self.what_is_there().await } else { self.rest().await }
    }

    /// Reads until the command has ended.
    async fn while_running(&mut self) -> io::Result<Pipe> {
        loop {
            self.make_room();
            let count = tokio::select! {
                biased;
                _ = self.phase.wait_for(|phase| matches!(phase, Phase::Ended { .. })) => {
                    return Ok(Pipe::Open);
                }
                count = self.pipe.read_buf(&mut self.buffer) => count?,
            };
            if self.forward(count).await == Pipe::Ended {
                return Ok(Pipe::Ended);
            }
        }
    }

    /// Reads at least what the pipe holds now, without having to wait for it.
    async fn what_is_there(&mut self) -> io::Result<Pipe> {
        let mut rest = ioctl_fionread(&self.pipe)?;
        while rest > 0 {
            self.make_room();
            let count = self.pipe.read_buf(&mut self.buffer).await?;
            if self.forward(count).await == Pipe::Ended {
                return Ok(Pipe::Ended);
            }
            rest = rest.saturating_sub(count as u64);
        }
        Ok(Pipe::Open)
    }

    /// Reads until the grace is over. It may be shortened meanwhile.
    async fn grace(&mut self) -> io::Result<Pipe> {
        let start = Instant::now();
        loop {
            let Phase::Ended { grace } = *self.phase.borrow_and_update() else {
                return Ok(Pipe::Open);
            };
            // Also a pipe that is always full comes past here.
            let left = grace.saturating_sub(start.elapsed());
            if left.is_zero() {
                return Ok(Pipe::Open);
            }
            self.make_room();
            let count = tokio::select! {
                biased;
                () = sleep(left) => return Ok(Pipe::Open),
                Ok(()) = self.phase.changed() => continue,
                count = self.pipe.read_buf(&mut self.buffer) => count?,
            };
            if self.forward(count).await == Pipe::Ended {
                return Ok(Pipe::Ended);
            }
        }
    }

    /// Reads to the end of a pipe that nobody writes to any more.
    async fn rest(&mut self) -> io::Result<Pipe> {
        loop {
            self.make_room();
            let count = self.pipe.read_buf(&mut self.buffer).await?;
            if self.forward(count).await == Pipe::Ended {
                return Ok(Pipe::Ended);
            }
        }
    }

    fn has_writers(&self) -> io::Result<bool> {
        let mut pipes = [PollFd::new(&self.pipe, PollFlags::IN)];
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        poll(&mut pipes, Some(&now))?;
        Ok(!pipes[0].revents().contains(PollFlags::HUP))
    }

    fn make_room(&mut self) {
        if self.buffer.capacity() - self.buffer.len() < MIN_READ_BYTES {
            self.buffer.reserve(BUFFER_BYTES);
        }
    }

    fn widen(&self) {
        // Refused where the user has too much in pipes; it works as it is.
        #[cfg(target_os = "linux")]
        let _ = rustix::pipe::fcntl_setpipe_size(&self.pipe, PIPE_BYTES);
    }

    /// Sends on what a read of `count` bytes has put into the buffer.
    async fn forward(&mut self, count: usize) -> Pipe {
        if count == 0 {
            return Pipe::Ended;
        }
        if self.carried < MUCH_BYTES && self.carried + count as u64 >= MUCH_BYTES {
            self.widen();
        }
        self.carried += count as u64;
        let bytes = self.buffer.split().freeze();
        if let Some(observer) = &self.observer {
            observer.output(self.from, &bytes);
        }
        // A channel that is full or broken still counts what it is sent, and
        // its owner knows. The command must not die of it.
        let _ = self.channel.send(bytes).await;
        Pipe::Open
    }
}

#[cfg(test)]
mod tests {
    use std::io::{PipeWriter, Write};
    use std::sync::Mutex;

    use async_trait::async_trait;
    use output_contract::{Delta, OutputDeclaration};
    use tool_api::{OutputHandling, OutputSink, SinkBackend, SinkError};

    use super::*;

    const NO_GRACE: Phase = Phase::Ended { grace: Duration::ZERO };
    const LONG: Duration = Duration::from_secs(1_000);

    /// A sink that takes `delay` for each send, then does something.
    struct Sink {
        kept: Mutex<Vec<u8>>,
        delay: Duration,
        then: Box<dyn Fn() + Send + Sync>,
    }

    impl std::fmt::Debug for Sink {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("Sink")
        }
    }

    #[async_trait]
    impl SinkBackend for Sink {
        fn declaration(&self) -> &OutputDeclaration {
            &OutputDeclaration::Single
        }

        async fn send(&self, delta: Delta) -> Result<(), SinkError> {
            sleep(self.delay).await;
            for chunk in delta.chunks {
                self.kept.lock().unwrap().extend_from_slice(&chunk.bytes);
            }
            (self.then)();
            Ok(())
        }

        fn close(&self) {}

        fn abandon(&self) {}
    }

    fn sink(delay: Duration, then: impl Fn() + Send + Sync + 'static) -> Arc<Sink> {
        Arc::new(Sink { kept: Mutex::default(), delay, then: Box::new(then) })
    }

    fn fast() -> Arc<Sink> {
        sink(Duration::ZERO, || {})
    }

    /// A pipe that holds `content`, and a pump for it.
    fn pump(sink: &Arc<Sink>, content: &[u8], phase: Phase) -> (Pump, PipeWriter, Phases) {
        let (pipe, mut writer) = io::pipe().unwrap();
        writer.write_all(content).unwrap();
        let streaming = OutputSink::new(Arc::clone(sink) as _, OutputHandling::Captured).stream();
        let channel = streaming.channel(None).unwrap();
        let (phases, phase) = watch::channel(phase);
        let pump = Pump::new(pipe.into(), channel, OutputStream::Stdout, None, phase).unwrap();
        (pump, writer, phases)
    }

    type Phases = watch::Sender<Phase>;

    fn kept(sink: &Sink) -> String {
        String::from_utf8(sink.kept.lock().unwrap().clone()).unwrap()
    }

    #[tokio::test]
    async fn a_pipe_that_is_closed_is_read_to_its_end_without_any_grace() {
        let sink = fast();
        let (pump, writer, _phases) = pump(&sink, b"all", NO_GRACE);
        drop(writer);
        assert!(!pump.run().await);
        assert_eq!(kept(&sink), "all");
    }

    #[tokio::test]
    async fn a_pipe_that_is_held_is_read_as_far_as_it_is_filled() {
        let sink = fast();
        let (pump, _writer, _phases) = pump(&sink, b"all", NO_GRACE);
        assert!(pump.run().await);
        assert_eq!(kept(&sink), "all");
    }

    #[tokio::test]
    async fn closing_the_pipe_ends_it_while_the_command_runs() {
        let sink = fast();
        let (pump, writer, _phases) = pump(&sink, b"all", Phase::Running);
        drop(writer);
        assert!(!pump.run().await);
        assert_eq!(kept(&sink), "all");
    }

    #[tokio::test(start_paused = true)]
    async fn the_grace_begins_when_the_sink_has_taken_what_was_there() {
        // Sending takes ten times the grace.
        let grace = Duration::from_secs(1);
        let sent = Arc::new(tokio::sync::Notify::new());
        let signal = Arc::clone(&sent);
        let sink = sink(10 * grace, move || signal.notify_one());
        let (pump, mut writer, _phases) = pump(&sink, b"early ", Phase::Ended { grace });
        let background = async {
            sent.notified().await;
            sleep(grace / 2).await;
            writer.write_all(b"late").unwrap();
            sent.notified().await;
            sleep(grace).await;
            // Nobody reads this any more, and that is all right.
            let _ = writer.write_all(b"too late");
        };
        let (held, ()) = tokio::join!(pump.run(), background);
        assert!(held);
        assert_eq!(kept(&sink), "early late");
    }

    #[tokio::test]
    async fn when_the_grace_is_cut_short_what_is_there_is_still_read() {
        let stuck = Arc::new(tokio::sync::Notify::new());
        let signal = Arc::clone(&stuck);
        let sink = sink(Duration::ZERO, move || signal.notify_one());
        let (pump, mut writer, phases) = pump(&sink, b"", Phase::Ended { grace: LONG });
        let background = async {
            writer.write_all(b"one ").unwrap();
            stuck.notified().await;
            writer.write_all(b"two").unwrap();
            phases.send_replace(NO_GRACE);
        };
        let (held, ()) = tokio::join!(pump.run(), background);
        assert!(held);
        assert_eq!(kept(&sink), "one two");
    }

    #[tokio::test]
    async fn a_pipe_that_is_never_empty_has_a_deadline_too() {
        let (pipe, writer) = io::pipe().unwrap();
        drop(pipe);
        let refill = Arc::new(Mutex::new(writer));
        let target = Arc::clone(&refill);
        let sink = sink(Duration::ZERO, move || {
            let _ = target.lock().unwrap().write_all(b"more");
        });
        let grace = Duration::from_millis(20);
        let (pump, writer, _phases) = pump(&sink, b"some", Phase::Ended { grace });
        *refill.lock().unwrap() = writer;
        assert!(pump.run().await);
        assert!(kept(&sink).starts_with("somemore"));
    }
}
