//! File systems on which flock, links and renames do not mean enough.

use std::os::fd::OwnedFd;

use rustix::io::Errno;

/// Magic numbers as `statfs(2)` gives them; virtiofs has that of FUSE.
#[cfg(target_os = "linux")]
const UNTRUSTED: [(u32, &str); 9] = [
    (0x0000_6969, "NFS"),
    (0x0000_517b, "SMB"),
    (0xff53_4d42, "CIFS"),
    (0xfe53_4d42, "SMB2"),
    (0x0102_1997, "9p"),
    (0x6573_5546, "FUSE"),
    (0x5346_414f, "AFS"),
    (0x7375_7245, "Coda"),
    (0x00c3_6400, "Ceph"),
];

#[cfg(target_os = "linux")]
pub(super) fn untrusted(fd: &OwnedFd) -> Result<Option<&'static str>, Errno> {
    let magic = rustix::fs::fstatfs(fd)?.f_type as u32;
    Ok(UNTRUSTED.iter().find(|(known, _)| *known == magic).map(|(_, name)| *name))
}

/// Elsewhere nothing is known, so nothing is refused.
#[cfg(not(target_os = "linux"))]
pub(super) fn untrusted(_: &OwnedFd) -> Result<Option<&'static str>, Errno> {
    Ok(None)
}
