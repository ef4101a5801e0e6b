import RepriseCore
import RepriseHTTP
import ReprisePlatform
import RepriseRanges
import RepriseStorage
import RepriseTesting
import Synchronization
import Testing

/// A whole cache on one thread: scripted origin, files in memory, a clock that stands still.
final class World: Sendable {
    let queues: ManualQueues
    let origin = ScriptedOrigin()
    let memory = SimulatedDisk()
    private let disk: Lock<FaultyVolume>
    let blockSize: Int64
    let configuration: MediaCache.Configuration
    private let opened: Lock<MediaCache>
    /// What the engine's machines found broken after an input: nothing.
    let broken = Recorder<String>()

    var cache: MediaCache { opened.withLock { $0 } }
    /// Bytes that entries take, in files that have names and in those that live on in open handles.
    var takenByEntries: Int64 {
        memory.allocatedBytes - memory.allocatedBytes { !$0.contains("/entries/") }
    }
    /// The disk as the present process reaches it.
    var files: FaultyVolume { disk.withLock { $0 } }

    init(
        seed: UInt64 = 1, isOrdered: Bool = true, blockSize: Int64 = 32 * 1024, pieceSize: Int = 16 * 1024,
        configure: (inout MediaCache.Configuration) -> Void = { _ in }, through client: @escaping Through = { $1 }
    ) throws {
        queues = ManualQueues(seed: seed, isOrdered: isOrdered)
        let files = FaultyVolume(memory)
        disk = Lock(files)
        self.blockSize = blockSize
        self.pieceSize = pieceSize
        var configuration = MediaCache.Configuration()
        configure(&configuration)
        self.configuration = configuration
        self.client = client
        opened = Lock(try World.open(files, blockSize, origin, queues, pieceSize, configuration, client, broken))
    }

    /// Puts a client between the cache and the origin's own.
    typealias Through = @Sendable (ManualQueues, any OriginClient) -> any OriginClient

    private let pieceSize: Int
    private let client: Through

    private static func open(
        _ files: any StoreVolume, _ blockSize: Int64, _ origin: ScriptedOrigin, _ queues: ManualQueues,
        _ pieceSize: Int,
        _ configuration: MediaCache.Configuration, _ through: Through, _ broken: Recorder<String>
    ) throws -> MediaCache {
        let store = try Store(
            root: "/store", volume: files, layout: BlockLayout(blockSize: blockSize),
            key: configuration.seal?.key())
        let client = InMemoryOriginClient(origin: origin, queues: queues, pieceSize: pieceSize)
        return MediaCache(
            store: store, client: through(queues, client), configuration: configuration, queues: queues,
            onBrokenInvariant: { broken.add($0) })
    }

    /// Closes all files, as a process that ends does, and opens the store anew.
    func restart() throws {
        for session in cache.openEntries { session.shutDown() }
        queues.advance(60 * second)
        for session in cache.openEntries { session.closeIfIdle() }
        if let store = cache.environment.store { cache.closeIndex(of: store, session: store.indexSession) {} }
        queues.settle()
        // Also on a disk that hangs.
        cache.environment.store?.release()
        try reopen()
    }

    /// Opens the store of a cache that was closed.
    func reopen() throws {
        let fresh = try World.open(files, blockSize, origin, queues, pieceSize, configuration, client, broken)
        opened.withLock { $0 = fresh }
    }

    /// Opens the store anew without closing anything, as after kill -9: what was not written by now never is.
    /// - Parameter powerCut: Draws what of the writes since the last syncs the disk has; `nil` for all.
    func kill(powerCut seed: UInt64? = nil) throws {
        // What the process that ends still has under way reaches the disk never, not late.
        files.setRule { _, path, _ in
            ["/entries", "/statistics", "/index"].contains { path.contains($0) } ? .error(FileError.inputOutput) : nil
        }
        for session in cache.openEntries { session.shutDown() }
        queues.advance(60 * second)
        cache.environment.store?.release()
        disk.withLock { $0 = FaultyVolume(memory) }
        if let seed { memory.cutPower(seed: seed) }
        try reopen()
    }

    /// A cache of another process on the same root: there is one only while this one has given its store away.
    func openElsewhere() throws -> MediaCache {
        try World.open(files, blockSize, origin, queues, pieceSize, configuration, client, broken)
    }

    func put(_ path: String, length: Int64, generation: Int = 1, _ change: (inout OriginBehaviour) -> Void = { _ in }) {
        var behaviour = OriginBehaviour()
        change(&behaviour)
        origin.put(.init(PositionCodedContent(length: length, generation: generation), behaviour), at: path)
    }

    func player(_ path: String, _ range: ByteRange = .from(0), fields: HTTPFields = [:]) -> Player {
        Player(self, path, range, fields: fields)
    }

    /// Plays `range` to its end and answers what came of it.
    func play(_ path: String, _ range: ByteRange = .from(0), fields: HTTPFields = [:]) -> Player {
        let player = player(path, range, fields: fields)
        player.finish()
        return player
    }

    /// Plays the whole and answers what a reader was told of it.
    func told(_ path: String, fields: HTTPFields = [:]) throws -> ContentInfo {
        let player = player(path, fields: fields)
        player.play(to: 1)
        let info = try player.handle.info(wake: {}).get()
        player.finish()
        return try #require(info)
    }
}

extension World {
    /// Plays to the end, again, and after a restart with the origin gone: every byte comes right, and from the origin once.
    func expectBoughtOnce(_ path: String, length: Int64, location: SourceLocation = #_sourceLocation) throws {
        play(path).expectWhole(length, location: location)
        #expect(origin.bodyBytes == length, sourceLocation: location)
        let requests = origin.requestCount
        play(path).expectWhole(length, location: location)
        try restart()
        origin.setDown(true)
        play(path).expectWhole(length, location: location)
        #expect(origin.requestCount == requests, sourceLocation: location)
    }
}

extension World {
    /// Has players take what comes for so long.
    func drive(_ players: [Player], for time: Int64) {
        let end = queues.time + time
        while queues.time < end, players.contains(where: { !$0.isAtEnd && $0.failure == nil }) {
            for player in players where player.wasWoken && !player.isAtEnd && player.failure == nil { player.take() }
            if !queues.runOne(until: end) { return }
        }
    }
}

extension OriginBehaviour {
    /// Nothing tells the versions of an object apart.
    mutating func dropValidators() { (tag, hasLastModified) = (.none, false) }
}

extension Seal {
    /// What tests seal with where the key does not matter.
    static let testing = Seal(SealKey([UInt8](repeating: 7, count: 32))!)
}

let second: Int64 = 1_000_000_000
let millisecond: Int64 = 1_000_000

/// A player that checks every byte it gets.
final class Player: @unchecked Sendable {
    // @unchecked: the world runs on one thread; only the flag is set from a waker, on that same thread.
    let world: World
    let path: String
    let resource: MediaResource
    let handle: ReaderHandle
    var position: Int64
    var received: Int64 = 0
    var isAtEnd = false
    var failure: CacheError?
    /// The generation whose bytes came; a second one is a violation of INV-1.
    var generation: Int?
    var violation: String?
    var knownGenerations: [Int] = [1, 2, 3, 4, 5, 6]
    /// Whether a login page may come in place of the object, alone.
    var mayGetPage = false
    private var gotPage = false
    /// Whether it tells a client of any answer, as the door of a shared cache does.
    private let takesAnyAnswer: Bool
    /// Whether it gets the origin's own answers, as long as the origin does not ask to be left alone.
    var getsAnswers = false
    /// What was answered instead of the object: its status, and its body as far as it came.
    private(set) var other: (status: Int, body: [UInt8])?
    private var isTold = false
    /// Whether it is given the object with a coding, all of it.
    private(set) var isCoded = false
    private let codings: String?
    /// Whether it is worth asking: at the start, and after each call of the waker.
    private(set) var wasWoken = true
    /// Whether it has leased bytes read on the read pool, as doors do that cannot hand on a file's region.
    var usesReadPool = false
    private var pooled: (bytes: [UInt8], offset: Int64)?
    /// Whether it waits for the read pool.
    private(set) var isReading = false
    /// Reads that are under way, and those that are not heard any more.
    private var turn = 0

    init(
        _ world: World, _ path: String, _ range: ByteRange, fields: HTTPFields = [:], resource: MediaResource? = nil,
        takesAnyAnswer: Bool = false
    ) {
        self.world = world
        self.path = path
        codings = takesAnyAnswer ? AcceptEncoding(fields).field : nil
        let url = OriginURL("http://origin.test" + path)!
        self.resource = resource ?? world.cache.resource(for: url, fields: fields)
        self.takesAnyAnswer = takesAnyAnswer
        let resource = self.resource
        handle = (takesAnyAnswer ? resource.withAnyAnswer(for: fields) : resource).makeHandle(in: range)
        position = range.lowerBound
    }

    /// Takes at most `bytes` of what is ready now; answers how many came.
    @discardableResult
    func take(_ bytes: Int64 = .max, limit: Int = 64 * 1024) -> Int64 {
        var taken: Int64 = 0
        if let (read, offset) = pooled {
            pooled = nil
            taken += check(read[...], offset)
        }
        while taken < bytes, !isAtEnd, failure == nil {
            // It may be woken before the call returns.
            wasWoken = false
            if takesAnyAnswer, !isTold {
                guard learn() else { return taken }
                continue
            }
            let step = handle.step(limit: Int(min(Int64(limit), bytes - taken))) { self.wasWoken = true }
            if case .pending = step { return taken }
            wasWoken = true
            switch step {
            case .memory(let piece, let offset): taken += check(piece, offset)
            case .lease(let lease) where usesReadPool:
                wasWoken = false
                isReading = true
                let turn = turn
                handle.read(lease) { read in
                    guard turn == self.turn else { return }
                    self.isReading = false
                    if let read { self.pooled = (read, lease.range.lowerBound) }
                    self.wasWoken = true
                }
                return taken
            case .lease(let lease):
                guard lease.isUndisturbed, let read = try? lease.read() else {
                    handle.putBack(lease)
                    world.queues.settle()
                    return taken
                }
                taken += check(read[...], lease.range.lowerBound)
            case .pending: break
            case .end where other != nil: endOther()
            case .end: isAtEnd = true
            case .failed(let error): failure = error
            }
        }
        return taken
    }

    /// Is told what it reads, as a door is before it sends a head; `false` where it has to wait for that.
    private func learn() -> Bool {
        switch handle.info(wake: { self.wasWoken = true }) {
        case .success(nil): return false
        case .failure(let error):
            failure = error
            if getsAnswers, case .originRefused(let status) = error.code, error.retryAfter == nil {
                violation = "told of a \(status) instead of the answer"
            }
        case .success(let info?):
            isTold = true
            wasWoken = true
            if info.isResource { break }
            if info.status == 200, let coding = info.fields.contentCoding {
                isCoded = true
                if codings == nil { violation = "\(coding) for one that takes none" }
                position = 0
                handle.setRange(position: 0, end: .max)
                break
            }
            other = (info.status, [])
            position = 0
            handle.setRange(position: 0, end: .max)
        }
        return true
    }

    /// An answer instead of the object is over: it is whole, and this user's.
    private func endOther() {
        guard let other else { return }
        failure = CacheError(.originRefused(status: other.status), "the origin answered \(other.status)")
        let text = String(decoding: other.body, as: UTF8.self)
        let user = resource.request.fields["Authorization"] ?? resource.request.fields["Cookie"]
        switch other.status {
        case 200 where other.body == ScriptedOrigin.loginPage: break
        case 300..<400 where text.isEmpty: break
        case _ where text == "status \(other.status)\n": break
        case 401, 403, 429: if text == "not for \(user ?? "")\n" { break } else { fallthrough }
        default: violation = "\(other.status) with \(text.debugDescription) for \(user ?? "nobody")"
        }
    }

    private func check(_ piece: ArraySlice<UInt8>, _ offset: Int64) -> Int64 {
        if let other {
            if offset != position { violation = "bytes at \(offset) for position \(position) of an answer" }
            self.other = (other.status, other.body + piece)
            position += Int64(piece.count)
            return Int64(piece.count)
        }
        if offset != position { violation = "bytes at \(offset) for position \(position)" }
        guard let resource = world.origin.resource(at: String(path.prefix { $0 != "?" })) else {
            violation = "bytes of nothing"
            return Int64(piece.count)
        }
        let candidates = generation.map { [$0] } ?? knownGenerations
        let matching = candidates.filter { number in
            let content = PositionCodedContent(
                length: Int64.max, generation: number, signature: resource.content.signature)
            // A look at the first lines spares making all bytes of generations that are not it.
            return content.firstMismatch(piece.prefix(32), at: offset) == nil
                && content.firstMismatch(piece, at: offset) == nil
        }
        let page = ScriptedOrigin.loginPage.dropFirst(Int(min(offset, 1 << 20)))
        let isPage = mayGetPage && generation == nil && page.starts(with: piece)
        if isPage, matching.isEmpty {
            gotPage = true
        } else if gotPage, !isPage {
            violation = "bytes of the object after a page at \(offset)"
        } else if matching.isEmpty {
            let at = PositionCodedContent(length: .max, generation: generation ?? 1).firstMismatch(piece, at: offset)
            violation =
                "wrong bytes at \(offset), \(piece.count) of them, the first at \(at ?? -1), generation \(generation ?? 0)"
        }
        // A small piece may fit several generations and then proves none.
        if matching.count == 1 { generation = matching[0] }
        position += Int64(piece.count)
        received += Int64(piece.count)
        return Int64(piece.count)
    }

    /// Takes bytes until `target` is reached, the end, a failure, or `patience` has passed without any.
    ///
    /// Like a real door it asks only when it was woken, so a wake-up that is lost is a reader that hangs. Time jumps
    /// to the next piece of work: in between nothing can happen.
    func play(to target: Int64 = .max, patience: Int64 = 60 * second) {
        var deadline = world.queues.time + patience
        while position < target, !isAtEnd, failure == nil {
            if wasWoken {
                if take(target - position) > 0 { deadline = world.queues.time + patience }
            } else if !world.queues.runOne(until: deadline) {
                return world.queues.advance(deadline - world.queues.time)
            }
        }
    }

    func seek(to target: Int64) {
        guard other == nil, !isCoded else { return }
        handle.seek(to: target)
        pooled = nil
        isReading = false
        turn += 1
        position = target
        isAtEnd = false
        wasWoken = true
    }

    func finish() {
        play()
        handle.leave()
    }

    func leave() { handle.leave() }

    func expectWhole(_ length: Int64, from start: Int64 = 0, location: SourceLocation = #_sourceLocation) {
        #expect(violation == nil, sourceLocation: location)
        #expect(failure == nil, sourceLocation: location)
        #expect(isAtEnd, "it stands at \(position) of \(length)", sourceLocation: location)
        #expect(received == length - start, sourceLocation: location)
    }
}
