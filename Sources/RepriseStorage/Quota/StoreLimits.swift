import RepriseRanges

/// How much a store may take of a disk. `nil` is no limit; 0 and less are refused, as nobody means them.
///
/// Sizes are counted in what the volume sets aside, an entry's folder and its small files included (about 16 KiB an
/// entry). Pinned entries count, and are never evicted: where they alone fill a limit nothing else is stored.
public struct StoreLimits: Sendable, Hashable {
    /// Bytes all entries together may take.
    public var bytes: Int64?
    /// How long an entry that is not used is kept.
    public var age: Duration?
    /// Bytes to be left free on the volume, whoever took the others. A tenth of the volume at the most: on a small
    /// one the store is to be of use, too.
    public var freeSpace: Int64?
    /// Files and directories the volume is still to have space for; an entry needs four.
    public var freeFiles: Int64?

    /// Sets what is given; what is not is unlimited.
    public init(
        bytes: Int64? = nil, age: Duration? = nil, freeSpace: Int64? = nil, freeFiles: Int64? = nil
    ) {
        self.bytes = bytes
        self.age = age
        self.freeSpace = freeSpace
        self.freeFiles = freeFiles
    }

    /// Everything is kept for ever.
    public static let none = StoreLimits()
    /// For an app on a phone: 2 GiB, 90 days, 500 MiB left free.
    public static let device = StoreLimits(bytes: 2 << 30, age: .days(90), freeSpace: 500 << 20)
    /// For a machine whose disk is there for this: what it holds but 1 GiB and 10,000 files.
    public static let server = StoreLimits(freeSpace: 1 << 30, freeFiles: 10_000)

    /// What is wrong with it, in words; `nil` where nothing is.
    package var problem: String? {
        for (name, value) in [("bytes", bytes), ("free space", freeSpace), ("free files", freeFiles)] {
            if let value, value <= 0 { return "a limit of \(value) \(name) keeps nothing; nil is no limit" }
        }
        if let age, age <= .zero { return "an age of \(age) keeps nothing; nil is no limit" }
        return nil
    }
}

extension Duration {
    /// So many days of 24 hours.
    public static func days(_ count: Int) -> Duration { .seconds(Int64(count).multiplied(by: 86_400)) }
}
