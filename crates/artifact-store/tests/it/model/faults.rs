//! What the protocol could do wrong. Each is known to lose something.

/// A protocol with one ingredient left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    /// Publishers link, and collectors remove, without the sweep lock.
    NoSweepLock,
    /// Leases are not read again under the exclusive lock.
    NoRecheck,
    /// Released entries count for nothing at once.
    ReleasedDropped,
    /// Expired entries of processes that died meanwhile count for nothing.
    DeadDropped,
    /// Roots are read before it is noted which leases are released.
    RootsFirst,
    /// What is there before the lease is taken is not linked.
    CheckedBeforeLease,
    /// A loan trusts what was there before its lease.
    LoanUnchecked,
    /// After a crash a root is written because all is there, without a lease.
    BlindReplay,
    /// A lease names the manifest and not its closure.
    ManifestLeasedAlone,
    /// Collectors do not exclude each other.
    TwoCollectors,
    /// A lease file is removed when some of its entries are forgotten.
    FilesForgottenInPart,
    /// A lease file is removed though its process lives.
    LivingForgotten,
    /// A lease file is used though its name may be gone.
    NameUnchecked,
    /// The manifest is linked before what it names.
    ManifestLinkedFirst,
    /// A blob is removed before the manifest that names it.
    ChildrenRemovedFirst,
}
