import ReprisePlatform
import RepriseRanges

/// The file `index` of a root: what is stored, so that it can be told without opening every entry. A hint: entries count, it can be lost
/// at any time, and no byte that is served depends on it.
///
/// It begins with eight bytes that say what it is, and goes on in frames (`IndexFrame`) of records (`IndexRecord`). What happens to an
/// entry is noted in memory, appended soon after, and counts over what was said before. Of a file that ends with `.closed`, and whose
/// store no process has opened since, every record holds; of any other one, each is compared with its entry before the next `.closed`
/// is written. Names are compared with the folders each time they changed (`StoreSurvey`).
///
/// The first append after a start is synced. A power cut before it, a fifth of a second after the first change, may leave entries newer
/// than a file that ends with `.closed`: what it says of those is behind until they are used or verified.
///
/// Notes can be made on any thread. All other calls are I/O and wait for one another: records are appended in the order in which they
/// were noted.
package final class StoreIndex: Sendable {
    /// The file as it was last seen.
    private struct File {
        /// When: another process may have had the store since.
        var session: Int
        /// Where its last whole frame ends.
        var end: Int64
        /// Whether every record in it, with those that are pending, says what its entry says.
        var isRight = false
        var isSynced = false
        /// Bytes that what counts takes, about, as it was last read; before, all of it.
        var needed: Int64

        init(session: Int, end: Int64, isRight: Bool = false) {
            (self.session, self.end, self.isRight) = (session, end, isRight)
            needed = end
        }
    }

    private struct State {
        var pending: [IndexRecord] = []
        var onPending: (@Sendable () -> Void)?
        /// It was called, and what was noted is not all appended since.
        var isTold = false
        /// Another process may have the store, which changes it without a word.
        var isAway = false
        /// Notes were given up since the store was taken.
        var isLossy = false
        /// Which of the times it is between which notes may be missing: the store was let go, or taken back, or they were given up.
        var session = 0
    }

    static let magic = Array("RPRSIDX1".utf8)
    /// Notes that wait for a disk that does not take them. More are given up, and entries compared again later.
    static let mostPending = 16_384
    private static let chunk = 1 << 20
    /// A smaller file is not worth to be written anew.
    private static let slack: Int64 = 256 << 10

    private let root: String
    private let volume: any StoreVolume
    private let seal: RootSeal?
    private let state = Lock(State())
    private let file = Lock<File?>(nil)
    private var path: String { root + "/index" }

    init(root: String, volume: any StoreVolume, seal: RootSeal?) {
        self.root = root
        self.volume = volume
        self.seal = seal
    }

    // MARK: Notes

    /// Sets what to call when there is something to append. It must be quick.
    func onPending(_ tell: @escaping @Sendable () -> Void) {
        let isDue = state.withLock { state in
            state.onPending = tell
            state.isTold = !state.pending.isEmpty
            return state.isTold
        }
        if isDue { tell() }
    }

    /// Something happened to an entry.
    func note(_ record: IndexRecord) {
        let tell = state.withLock { state -> (@Sendable () -> Void)? in
            guard !state.isAway else { return nil }
            guard state.pending.count < StoreIndex.mostPending else {
                state.pending = []
                state.isLossy = true
                state.session += 1
                return nil
            }
            state.pending.append(record)
            if state.isTold { return nil }
            state.isTold = state.onPending != nil
            return state.onPending
        }
        tell?()
    }

    // MARK: The file

    /// What all entries take, where every record holds; `nil` where they have to be compared with their entries.
    func begin(_ epoch: RootLockEpoch) throws(FileError) -> Int64? {
        try file.withLock { file throws(FileError) in try begin(&file, epoch) }
    }

    private func begin(_ file: inout File?, _ epoch: RootLockEpoch) throws(FileError) -> Int64? {
        let session = session
        if file?.session == session { return nil }
        let handle: any VolumeFile
        do throws(FileError) { handle = try volume.open(path, .read) } catch {
            guard error.kind == .missing else { throw error }
            file = File(session: session, end: 0)
            return nil
        }
        let size = try handle.status().size
        guard let closed = try last(handle, size), epoch.changes?.contains(closed.lock) == true else {
            file = File(session: session, end: try read(handle) { _ in })
            return nil
        }
        file = File(session: session, end: size, isRight: state.withLock { !$0.isLossy })
        return closed.allocated
    }

    /// Another process may have the store from here on. Waits for no disk.
    func leave() {
        state.withLock { state in
            state.pending = []
            state.isTold = false
            state.isAway = true
            state.session += 1
        }
    }

    /// The store was taken back.
    func comeBack() {
        state.withLock { state in
            state.isAway = false
            state.isLossy = false
            state.session += 1
        }
    }

    /// Which time it is: what was found out at another one may not hold.
    var session: Int { state.withLock(\.session) }

    /// Appends what was noted. What comes meanwhile is told of anew.
    /// - Throws: Where the disk does not take it; it stays noted, and is not told of again.
    func flush(_ epoch: RootLockEpoch) throws(FileError) {
        try file.withLock { file throws(FileError) in try flush(&file, epoch) }
    }

    private func flush(_ file: inout File?, _ epoch: RootLockEpoch) throws(FileError) {
        _ = try begin(&file, epoch)
        let (records, session) = state.withLock { state in
            defer { state.pending = [] }
            return (state.pending, state.session)
        }
        do throws(FileError) { if !records.isEmpty { try append(records, to: &file, epoch) } } catch {
            state.withLock { state in if state.session == session { state.pending = records + state.pending } }
            throw error
        }
        let tell = state.withLock { state in
            state.isTold = !state.pending.isEmpty && state.onPending != nil
            return state.isTold ? state.onPending : nil
        }
        tell?()
    }

    /// What is noted may be behind: no record holds before each was compared. Waits for no disk.
    func distrust() {
        state.withLock { state in
            state.isLossy = true
            state.session += 1
        }
    }

    /// Whether it has grown so much that it is worth to be written anew.
    var isLarge: Bool {
        file.withLock { file in file.map { $0.end / 2 > $0.needed.adding(StoreIndex.slack) } ?? false }
    }

    private func append(
        _ records: [IndexRecord], to file: inout File?, _ epoch: RootLockEpoch
    ) throws(FileError) {
        guard let known = file else { return }
        let frames = IndexFrame.encoded(records, seal)
        let bytes = known.end == 0 ? StoreIndex.magic + frames : frames
        try epoch.perform { () throws(FileError) in
            let handle = try volume.open(path, .create)
            // What stands behind the last whole frame would end the file for each reader.
            if try handle.status().size != known.end { try handle.truncate(to: known.end) }
            try handle.write(bytes, at: known.end)
            // Once, so that a power cut does not leave a file that seems to be of a store that was closed.
            if !known.isSynced { try handle.sync() }
        }
        file?.isSynced = true
        file?.end += Int64(bytes.count)
    }

    /// Every record holds from here on, as each was compared with its entry.
    /// - Parameter session: When that began.
    func setRight(_ session: Int) {
        file.withLock { file in if file?.session == session { file?.isRight = true } }
    }

    /// Whether every record holds.
    var isRight: Bool { file.withLock { isRight($0) } }

    private func isRight(_ file: File?) -> Bool { file.map { $0.isRight && $0.session == session } ?? false }

    /// Notes that the store is closed, where every record holds.
    func close(allocated: Int64, _ epoch: RootLockEpoch) throws(FileError) {
        try file.withLock { file throws(FileError) in
            try flush(&file, epoch)
            guard isRight(file), let lock = epoch.changes?.now else { return }
            try append([.closed(allocated: allocated, lock: lock)], to: &file, epoch)
        }
    }

    /// Everything that is noted, also what was not appended yet.
    func read() throws(FileError) -> IndexTable {
        try file.withLock { file throws(FileError) in try read(&file) }
    }

    private func read(_ file: inout File?) throws(FileError) -> IndexTable {
        var table = IndexTable()
        var size: Int64 = 0
        do throws(FileError) {
            let handle = try volume.open(path, .read)
            table = IndexTable(size: try handle.status().size)
            size = try read(handle) { table.apply($0) }
        } catch {
            if error.kind != .missing { throw error }
        }
        // It is damaged there: what stands behind it is gone.
        if let known = file, size < known.end { file = File(session: known.session, end: size) }
        for record in state.withLock(\.pending) { table.apply(record) }
        file?.needed = table.size
        return table
    }

    /// Writes it anew, with what counts alone, where less than half of it does.
    func compact(_ epoch: RootLockEpoch) throws(FileError) {
        try file.withLock { file throws(FileError) in
            guard file.map({ $0.end / 2 > $0.needed }) == true else { return }
            let table = try read(&file)
            guard let known = file, known.session == session, known.end / 2 > known.needed else { return }
            let bytes = StoreIndex.magic + IndexFrame.encoded(table.records, seal)
            try epoch.replace(path, with: bytes, by: path + ".new")
            file?.end = Int64(bytes.count)
            file?.isSynced = true
        }
    }

    // MARK: Reading

    /// Hands each record of whole frames to `take`, in order; the end of the last whole one.
    private func read(_ handle: any VolumeFile, _ take: (IndexRecord) -> Void) throws(FileError) -> Int64 {
        var bytes: [UInt8] = []
        var (offset, index) = (Int64(0), 0)
        var isAtEnd = false
        /// Has `count` bytes from `index` on at hand; `false` where the file ends before.
        func require(_ count: Int) throws(FileError) -> Bool {
            while bytes.count - index < count, !isAtEnd {
                bytes.removeFirst(index)
                offset += Int64(index)
                index = 0
                let known = bytes.count
                let wanted = max(StoreIndex.chunk, count)
                try handle.read(at: offset.adding(Int64(known)), count: wanted, into: &bytes)
                isAtEnd = bytes.count - known < wanted
            }
            return bytes.count - index >= count
        }
        guard try require(StoreIndex.magic.count), Array(bytes[..<StoreIndex.magic.count]) == StoreIndex.magic else {
            return 0
        }
        index = StoreIndex.magic.count
        while try require(IndexFrame.headSize), let count = IndexFrame.contentCount(bytes, at: index),
            try require(IndexFrame.headSize + count), let content = IndexFrame.content(bytes, at: index, seal),
            IndexRecord.read(content, take)
        {
            index += IndexFrame.headSize + count
        }
        return offset.adding(Int64(index))
    }

    /// What the last frame says, where it is of a store that was closed.
    private func last(
        _ handle: any VolumeFile, _ size: Int64
    ) throws(FileError) -> (allocated: Int64, lock: Int64)? {
        let count = IndexFrame.encoded([.closed(allocated: 0, lock: 0)], seal).count
        guard size >= Int64(StoreIndex.magic.count + count) else { return nil }
        var bytes: [UInt8] = []
        try handle.read(at: size - Int64(count), count: count, into: &bytes)
        guard bytes.count == count, IndexFrame.contentCount(bytes, at: 0) == count - IndexFrame.headSize,
            let content = IndexFrame.content(bytes, at: 0, seal)
        else { return nil }
        var closed: (allocated: Int64, lock: Int64)?
        let isWhole = IndexRecord.read(content) { record in
            if case .closed(let allocated, let lock) = record { closed = (allocated, lock) }
        }
        return isWhole ? closed : nil
    }
}
