//! What a process reads.
//!
//! Responsible for filling its input pipe, from given bytes or from our own
//! standard input, and for closing it at the end. A reader that has gone away
//! is no error.

use std::convert::Infallible;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::process::ChildStdin;
use std::thread;

use bytes::Bytes;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use tokio::io::AsyncWriteExt;
use tokio::net::unix::pipe::Sender;
use tokio::sync::mpsc;

use super::spec::Stdin;

/// How much of our own input is read at once, in bytes.
const RELAY_BYTES: usize = 64 * 1024;

/// What goes into the input pipe.
#[derive(Debug)]
pub(super) enum Feed {
    /// There is no pipe.
    Nothing,
    /// These bytes.
    Bytes(Sender, Bytes),
    /// What the relay reads.
    Relay(Sender, Relay),
}

impl Feed {
    pub(super) fn new(stdin: Stdin, pipe: Option<ChildStdin>) -> io::Result<Self> {
        let Some(pipe) = pipe else { return Ok(Self::Nothing) };
        let pipe = Sender::from_owned_fd(pipe.into())?;
        Ok(match stdin {
            Stdin::Null | Stdin::Inherit => Self::Nothing,
            Stdin::Bytes(bytes) => Self::Bytes(pipe, bytes),
            Stdin::Relay => {
                Self::Relay(pipe, Relay::start(io::stdin().as_fd().try_clone_to_owned()?)?)
            }
        })
    }

    /// Writes all there is, closes the pipe, and never returns.
    pub(super) async fn run(self) -> Infallible {
        match self {
            Self::Nothing => {}
            Self::Bytes(mut pipe, bytes) => {
                let _ = pipe.write_all(&bytes).await;
            }
            Self::Relay(mut pipe, mut relay) => {
                while let Some(bytes) = relay.chunks.recv().await {
                    if pipe.write_all(&bytes).await.is_err() {
                        break;
                    }
                }
            }
        }
        std::future::pending().await
    }
}

/// A thread that reads a descriptor which need not support readiness events
/// and may be shared with others, so that it cannot be made non-blocking. It
/// ends when this is dropped, without a read that would swallow input.
#[derive(Debug)]
pub(super) struct Relay {
    chunks: mpsc::Receiver<Bytes>,
    /// Dropping this wakes the thread.
    _wake: io::PipeWriter,
}

impl Relay {
    fn start(input: OwnedFd) -> io::Result<Self> {
        let (woken, wake) = io::pipe()?;
        let (sender, chunks) = mpsc::channel(1);
        thread::Builder::new()
            .name("stdin-relay".to_owned())
            .spawn(move || relay(&input, &woken, &sender))?;
        Ok(Self { chunks, _wake: wake })
    }
}

fn relay(input: &OwnedFd, woken: &io::PipeReader, chunks: &mpsc::Sender<Bytes>) {
    let mut buffer = vec![0; RELAY_BYTES];
    loop {
        let mut sources = [PollFd::new(woken, PollFlags::IN), PollFd::new(input, PollFlags::IN)];
        match poll(&mut sources, None) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(_) => return,
        }
        if !sources[0].revents().is_empty() {
            return;
        }
        if sources[1].revents().is_empty() {
            continue;
        }
        match rustix::io::read(input, &mut buffer) {
            Ok(0) => return,
            Ok(count) => {
                if chunks.blocking_send(Bytes::copy_from_slice(&buffer[..count])).is_err() {
                    return;
                }
            }
            Err(Errno::INTR | Errno::AGAIN) => {}
            Err(_) => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[tokio::test]
    async fn a_relay_gives_all_and_ends_with_its_input() {
        let (input, mut output) = io::pipe().unwrap();
        let mut relay = Relay::start(input.into()).unwrap();
        output.write_all(b"one\n").unwrap();
        assert_eq!(relay.chunks.recv().await.unwrap(), "one\n");
        output.write_all(b"two").unwrap();
        drop(output);
        assert_eq!(relay.chunks.recv().await.unwrap(), "two");
        assert_eq!(relay.chunks.recv().await, None);
    }

    #[tokio::test]
    async fn a_relay_that_is_dropped_takes_no_more_input() {
        let (input, mut output) = io::pipe().unwrap();
        let (woken, wake) = io::pipe().unwrap();
        let (sender, chunks) = mpsc::channel(1);
        let ours = input.try_clone().unwrap();
        let thread = thread::spawn(move || relay(&input.into(), &woken, &sender));
        drop(Relay { chunks, _wake: wake });
        thread.join().unwrap();
        output.write_all(b"for the next").unwrap();
        assert_eq!(rustix::io::ioctl_fionread(&ours).unwrap(), 12);
    }
}
