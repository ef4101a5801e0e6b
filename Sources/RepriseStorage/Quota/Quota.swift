package import ReprisePlatform
import RepriseRanges

/// How much is stored, how much may be, and so when something has to go and how much of it. No I/O.
///
///     0 ............ low water ..... high water ..... capacity
///                        ^               |               |
///                        +--- a sweep ---+               +-- nothing more is stored
///
/// A sweep begins at high water and goes down to low water, so that it is not needed at every piece that is stored.
package struct Quota: Sendable {
    /// What has to go.
    package struct Excess: Sendable, Hashable {
        package var bytes: Int64
        package var files: Int64

        package init(bytes: Int64, files: Int64) {
            self.bytes = bytes
            self.files = files
        }

        package var isNone: Bool { bytes <= 0 && files <= 0 }
    }

    /// Bytes an entry takes before anything is stored of it: a folder and three files, a page each.
    package static let entryCost: Int64 = 16_384
    /// What a folder and a description take of that.
    static let describedCost: Int64 = 8192
    /// Files and directories of an entry.
    package static let filesPerEntry: Int64 = 4
    /// So many bytes are stored at most before the volume is asked again what it has left. Others write to it, too.
    package static let lookInterval: Int64 = 32 << 20

    package var limits: StoreLimits
    /// Bytes of a volume that is the store's alone; `nil` for one that others fill, too.
    private let ownVolume: Int64?
    /// How it is known what was there already.
    private enum Basis {
        case none
        /// Who let the store go last has noted it.
        case noted
        case counted
    }

    /// Bytes all entries take, as far as is known: counted by a sweep, and added to since.
    package private(set) var used: Int64 = 0
    private var basis = Basis.none
    /// Bytes that were stored since it was made, whether they are there still or not.
    package private(set) var storedInAll: Int64 = 0
    private var sinceLook: Int64 = 0
    /// Bytes the volume lets us have, as it said last; `nil` where it sets no bound.
    private var volumeCapacity: Int64?
    private var filesMissing: Int64 = 0

    package init(limits: StoreLimits, ownVolume: Int64? = nil) {
        self.limits = limits
        self.ownVolume = ownVolume
    }

    /// Bytes that may be stored in all; `Int64.max` for no limit.
    package var capacity: Int64 { max(0, min(byteLimit ?? .max, volumeCapacity ?? .max)) }

    /// The limit of bytes. What an own volume has beside entries, its index for one, has a sixteenth.
    private var byteLimit: Int64? {
        guard let ownVolume else { return limits.bytes }
        return min(limits.bytes ?? .max, ownVolume - ownVolume / 16)
    }

    /// Between capacity and high water, and between that and low water: what comes in while a sweep begins.
    private var margin: Int64 { min(capacity / 10, 64 << 20) }

    /// Whether more may be stored now.
    package var hasSpace: Bool { used < capacity && filesMissing == 0 && !needsCount }

    /// Whether nothing more is stored before it is known what was there: a store that begins full would go far over its
    /// limit while it is counted.
    package var needsCount: Bool { basis == .none && byteLimit != nil && used >= margin }

    /// Bytes all entries take; `nil` where it is not known what was there already.
    package var known: Int64? { basis == .none ? nil : used }

    /// Bytes were stored.
    package mutating func stored(_ bytes: Int64) {
        used = used.adding(bytes)
        storedInAll = storedInAll.adding(bytes)
        sinceLook += bytes
    }

    /// Bytes were given back.
    package mutating func freed(_ bytes: Int64, files: Int64 = 0) {
        used = max(0, used - bytes)
        filesMissing = max(0, filesMissing - files)
    }

    /// Who let the store go last has noted what all entries took. It holds until they are counted.
    package mutating func noted(_ bytes: Int64) {
        guard basis == .none else { return }
        learnt(bytes.adding(storedInAll))
        basis = .noted
    }

    /// All entries were counted.
    /// - Parameter begun: `storedInAll` when the counting began: what was stored since may have been looked for too early.
    package mutating func counted(_ bytes: Int64, since begun: Int64) {
        learnt(bytes.adding(storedInAll - begun))
        basis = .counted
    }

    private mutating func learnt(_ bytes: Int64) {
        // What the volume has left for us does not change by that.
        volumeCapacity = volumeCapacity.map { $0.adding(bytes) - used }
        used = bytes
    }

    /// The volume was asked what it has left.
    package mutating func looked(_ space: VolumeSpace) {
        sinceLook = 0
        // Of an own volume no space is to be left to others.
        let floor = ownVolume == nil ? limits.freeSpace.map { min($0, space.total / 10) } : space.total / 16
        volumeCapacity = floor.map { used.adding(space.free) - $0 }
        filesMissing =
            if let floor = limits.freeFiles, let free = space.freeFiles { max(0, floor - free) } else { 0 }
    }

    /// Whether the janitor is to look after it: high water is reached, or the volume was not asked for long.
    package var isDue: Bool { !excess.isNone || needsCount || asksVolume && sinceLook >= Quota.lookInterval }

    private var asksVolume: Bool { ownVolume != nil || limits.freeSpace != nil || limits.freeFiles != nil }

    /// What has to go so that low water is reached; nothing below high water.
    package var excess: Excess {
        let capacity = capacity
        let bytes = capacity != .max && used > capacity - margin ? used - (capacity - margin - margin) : 0
        return Excess(bytes: bytes, files: filesMissing)
    }

    /// Why nothing more is stored, and what to do.
    package var refusal: String {
        if needsCount { return "what the store holds is still being counted; this is stored later" }
        if filesMissing > 0 {
            return "the volume can hold too few more files; free space on it, or lower the limit of free files"
        }
        if ownVolume == nil, capacity < limits.bytes ?? .max {
            return "the volume has less space left than is to stay free; free space on it, or lower that limit"
        }
        return
            "all of the store's \(capacity) bytes are taken by what is pinned or being read; raise the limit or unpin"
    }
}
