import Dispatch
import ReprisePlatform
import RepriseRanges
import RepriseStorage
import RepriseTesting
import Testing

@Suite("Bytes handed out, given back and written at the same time")
struct LeaseTests {
    private func isZero(_ memory: SimulatedDisk, _ path: String, _ range: Range<Int>) throws -> Bool {
        try memory.contents(path)[range].allSatisfy { $0 == 0 }
    }

    @Test(arguments: StoreFixture.Kind.allCases)
    func `inv27 a block under a lease is not punched until the lease ends`(kind: StoreFixture.Kind) throws {
        let fixture = StoreFixture(kind, blockSize: 16)
        let content = PositionCodedContent(length: 64)
        let entry = try StoreFixture.add("a", content, to: fixture.open())
        let generation = entry.generation
        let body = fixture.path(entry.info, "body.1.mp3")
        var lease: ExtentLease? = generation.lease(ByteRange(20, 40))
        let waiting = try generation.discard(ByteRange(0, 64))
        // A sealed block opens only as a whole.
        let kept = kind == .plain ? 20..<40 : 16..<48
        #expect(waiting.ranges == [ByteRange(Int64(kept.lowerBound), Int64(kept.upperBound))])
        #expect(generation.availability(at: 20) == .absent(until: .max), "nobody new gets it")
        #expect(try content.firstMismatch(#require(lease).read(), at: 20) == nil)
        #expect(try isZero(fixture.memory, body, 0..<kept.lowerBound))
        #expect(try isZero(fixture.memory, body, kept.upperBound..<64))
        #expect(try generation.punchPending() == waiting)
        lease = nil
        #expect(try generation.punchPending().isEmpty)
        #expect(try isZero(fixture.memory, body, 0..<64))
        let reopened = try #require(try fixture.open().open(key: "a")).generation
        #expect(try StoreFixture.served(reopened, content).isEmpty)
        #expect(reopened.damagedBlocks == 0, "the slots were cleared before the bytes went")
    }

    @Test func `inv27 a file that another process gave away keeps its bytes until its other name is gone`() throws {
        let fixture = StoreFixture(.plain, blockSize: 16)
        let content = PositionCodedContent(length: 64)
        let store = try fixture.open()
        let entry = try StoreFixture.add("a", content, to: store)
        let path = try store.makeLease(entry.info, entry.generation)
        store.release()
        let later = try #require(try fixture.open().open(key: "a")).generation
        try later.load(.from(0))
        #expect(try later.discard(ByteRange(0, 64)).ranges == [ByteRange(0, 64)])
        #expect(later.claimed.ranges == [ByteRange(0, 64)], "what frees nothing costs nothing")
        #expect(try content.firstMismatch(fixture.memory.contents(path), at: 0) == nil)
        try fixture.memory.removeFile(path)
        #expect(try later.discard(ByteRange(0, 64)).isEmpty)
        #expect(try isZero(fixture.memory, fixture.path(StoreFixture.info("a", content), "body.1.mp3"), 0..<64))
    }

    @Test(arguments: StoreFixture.Kind.allCases)
    func `inv27 a block that is filled again while a punch waits is not punched`(kind: StoreFixture.Kind) throws {
        let fixture = StoreFixture(kind, blockSize: 16)
        let content = PositionCodedContent(length: 64)
        let generation = try StoreFixture.add("a", content, to: fixture.open()).generation
        var lease: ExtentLease? = generation.lease(ByteRange(0, 64))
        try generation.discard(ByteRange(0, 64))
        try StoreFixture.fill(generation, content, ByteRange(16, 40))
        #expect(lease?.range == ByteRange(0, 64))
        lease = nil
        try generation.punchPending()
        #expect(try StoreFixture.served(generation, content).ranges == [ByteRange(16, 40)])
    }

    @Test(arguments: StoreFixture.Kind.allCases)
    func `discarding keeps blocks that are only partly inside`(kind: StoreFixture.Kind) throws {
        let fixture = StoreFixture(kind, blockSize: 16)
        let content = PositionCodedContent(length: 70)
        let generation = try StoreFixture.add("a", content, to: fixture.open()).generation
        try generation.discard(ByteRange(10, 40))
        #expect(generation.claimed.ranges == [ByteRange(0, 16), ByteRange(32, 70)])
        try generation.discard(ByteRange(33, 34))
        try generation.discard(ByteRange(1000, 5000))
        #expect(generation.claimed.ranges == [ByteRange(0, 16), ByteRange(32, 70)])
        try generation.discard(.from(0))
        #expect(generation.claimed.isEmpty)
        try generation.verify(.from(0))
    }

    @Test(arguments: StoreFixture.Kind.allCases)
    func `inv04 a slot that cannot be cleared leaves its block stored`(kind: StoreFixture.Kind) throws {
        let fixture = StoreFixture(kind, blockSize: 16)
        let content = PositionCodedContent(length: 64)
        let generation = try StoreFixture.add("a", content, to: fixture.open()).generation
        fixture.files.setRule { operation, _, _ in operation == .write ? .error(FileError.inputOutput) : nil }
        #expect(throws: FileError.self) { try generation.discard(ByteRange(0, 64)) }
        fixture.files.setRule(nil)
        try generation.punchPending()
        #expect(try StoreFixture.served(generation, content).ranges == [ByteRange(0, 64)])
        #expect(generation.damagedBlocks == 0)
    }

    @Test(arguments: StoreFixture.Kind.allCases)
    func `inv04 a pen whose block was discarded goes on with the next block`(kind: StoreFixture.Kind) throws {
        let fixture = StoreFixture(kind, blockSize: 16)
        let content = PositionCodedContent(length: 64)
        let generation = try StoreFixture.add("a", content, [], to: fixture.open()).generation
        let pen = try #require(try generation.makeWriter(at: 0))
        func write(_ lower: Int64, _ upper: Int64) throws {
            try pen.write([content.bytes(in: ByteRange(lower, upper))[...]])
            #expect(pen.position == upper)
        }
        try write(0, 5)
        try generation.discard(ByteRange(0, 16))
        try write(5, 9)
        try write(9, 12)
        try write(12, 36)
        #expect(try StoreFixture.served(generation, content).ranges == [ByteRange(16, 36)])
        let reopened = try #require(try fixture.open().open(key: "a")).generation
        #expect(try StoreFixture.served(reopened, content).ranges == [ByteRange(16, 36)])
        #expect(reopened.damagedBlocks == 0)
    }

    /// Lets `other` run while a call of `operation` is under way: it is started from inside the call and given the
    /// time to finish, unless it rightly waits for the call.
    private func run(
        _ fixture: StoreFixture, during operation: FaultyVolume.Operation, on path: String,
        _ call: () throws -> Void, other: @escaping @Sendable () -> Void
    ) throws {
        let finished = DispatchSemaphore(value: 0)
        let hasStarted = Lock(false)
        fixture.files.setRule { called, calledPath, _ in
            guard called == operation, calledPath == path else { return nil }
            let isFirst = hasStarted.withLock { hasStarted in
                defer { hasStarted = true }
                return !hasStarted
            }
            guard isFirst else { return nil }
            DispatchQueue.global().async {
                other()
                finished.signal()
            }
            if finished.wait(timeout: .now() + 0.2) == .success { finished.signal() }
            return nil
        }
        try call()
        #expect(finished.wait(timeout: .now() + 30) == .success)
        fixture.files.setRule(nil)
    }

    @Test(arguments: StoreFixture.Kind.allCases)
    func `inv27 a punch never lands on bytes written meanwhile`(kind: StoreFixture.Kind) throws {
        let fixture = StoreFixture(kind, blockSize: 16)
        let content = PositionCodedContent(length: 64)
        let entry = try StoreFixture.add("a", content, to: fixture.open())
        let generation = entry.generation
        try run(fixture, during: .punch, on: fixture.path(entry.info, "body.1.mp3")) {
            try generation.discard(ByteRange(16, 48))
        } other: {
            #expect(throws: Never.self) { try StoreFixture.fill(generation, content, ByteRange(16, 48)) }
        }
        #expect(try StoreFixture.served(generation, content).ranges == [ByteRange(0, 64)])
        let reopened = try #require(try fixture.open().open(key: "a")).generation
        #expect(try StoreFixture.served(reopened, content).ranges == [ByteRange(0, 64)])
    }

    @Test(arguments: StoreFixture.Kind.allCases)
    func `inv04 the slot of a damaged block is not cleared once it is written anew`(kind: StoreFixture.Kind) throws {
        let fixture = StoreFixture(kind, blockSize: 16)
        let content = PositionCodedContent(length: 64)
        let info = try StoreFixture.add("a", content, to: fixture.open()).info
        try fixture.memory.flip(fixture.path(info, "body.1.mp3"), at: 20)
        let generation = try #require(try fixture.open().open(key: "a")).generation
        try generation.load(ByteRange(0, 64))
        try run(fixture, during: .write, on: fixture.path(info, "blocks.1")) {
            try generation.verify(ByteRange(16, 32))
        } other: {
            #expect(throws: Never.self) { try StoreFixture.fill(generation, content, ByteRange(16, 32)) }
        }
        let reopened = try #require(try fixture.open().open(key: "a")).generation
        #expect(try StoreFixture.served(reopened, content).ranges == [ByteRange(0, 64)])
    }

    /// Lets `other` run between a read of `path` and whoever asked for it, unless it rightly waits for the call.
    private func run(
        _ fixture: StoreFixture, afterReadOf path: String, _ call: () throws -> Void,
        other: @escaping @Sendable () throws -> Void
    ) throws {
        let finished = DispatchSemaphore(value: 0)
        let hasStarted = Lock(false)
        fixture.files.interruptReads { [files = fixture.files] read in
            guard read == path else { return }
            let isFirst = hasStarted.withLock { hasStarted in
                defer { hasStarted = true }
                return !hasStarted
            }
            guard isFirst else { return }
            files.interruptReads(nil)
            DispatchQueue.global().async {
                #expect(throws: Never.self) { try other() }
                finished.signal()
            }
            if finished.wait(timeout: .now() + 0.2) == .success { finished.signal() }
        }
        try call()
        #expect(finished.wait(timeout: .now() + 30) == .success)
    }

    @Test(arguments: StoreFixture.Kind.allCases, [false, true])
    func `inv27 slots that were read before a discard do not bring its blocks back`(
        kind: StoreFixture.Kind, isForgotten: Bool
    ) throws {
        let fixture = StoreFixture(kind, blockSize: 16)
        let content = PositionCodedContent(length: 64)
        let info = try StoreFixture.add("a", content, to: fixture.open()).info
        let generation = try #require(try fixture.open().open(key: "a")).generation
        if isForgotten { try generation.load(ByteRange(0, 64)) }
        if isForgotten { try generation.startOver() }
        try run(fixture, afterReadOf: fixture.path(info, "blocks.1")) {
            try generation.load(ByteRange(0, 64))
        } other: {
            try generation.discard(ByteRange(16, 48))
            guard isForgotten else { return }
            try generation.startOver()
        }
        // Where the discard came after the read, all is to be read again.
        try generation.load(ByteRange(0, 64))
        // What is claimed heals by its checksum: it has to be right before that, too.
        #expect(generation.claimed.ranges == [ByteRange(0, 16), ByteRange(48, 64)])
        #expect(
            try StoreFixture.served(generation, content).ranges == [ByteRange(0, 16), ByteRange(48, 64)])
        #expect(generation.damagedBlocks == 0)
    }

    @Test(arguments: StoreFixture.Kind.allCases)
    func `inv02 inv27 a fill that goes on in a block does not verify it when it was discarded`(
        kind: StoreFixture.Kind
    ) throws {
        let fixture = StoreFixture(kind, blockSize: 16)
        let content = PositionCodedContent(length: 64)
        let entry = try StoreFixture.add("a", content, [ByteRange(0, 24)], to: fixture.open())
        let generation = entry.generation
        // Its room is not given back as long as somebody reads it.
        var lease: ExtentLease? = generation.lease(ByteRange(16, 24))
        try run(fixture, afterReadOf: fixture.path(entry.info, "blocks.1")) {
            _ = try generation.makeWriter(at: 24)
        } other: {
            try generation.discard(ByteRange(16, 32))
        }
        #expect(try #require(lease).range == ByteRange(16, 24))
        lease = nil
        try generation.punchPending()
        #expect(try StoreFixture.served(generation, content).ranges == [ByteRange(0, 16)])
        #expect(generation.damagedBlocks == 0)
    }

    @Test(arguments: StoreFixture.Kind.allCases, [Int64(7), 16])
    func `inv02 inv27 readers, fills and discards on many threads never show a wrong byte`(
        kind: StoreFixture.Kind, blockSize: Int64
    ) throws {
        let fixture = StoreFixture(kind, blockSize: blockSize)
        let content = PositionCodedContent(length: 500)
        let generation = try StoreFixture.add("a", content, to: fixture.open()).generation
        DispatchQueue.concurrentPerform(iterations: 6) { thread in
            var random = SeededGenerator(seed: UInt64(thread + 1))
            for _ in 0..<150 {
                let lower = Int64.random(in: 0..<500, using: &random)
                let range = ByteRange(lower, .random(in: lower...500, using: &random))
                #expect(throws: Never.self) {
                    // One thread fills: a generation has one write lane.
                    switch thread {
                    case 0: try StoreFixture.fill(generation, content, range)
                    case 1: try generation.discard(range)
                    case 2: try generation.withdrawVerification()
                    case 3: try generation.punchPending()
                    default:
                        try generation.load(range)
                        try generation.verify(range)
                        if let lease = generation.lease(range) {
                            do throws(FileError) {
                                #expect(try content.firstMismatch(lease.read(), at: lease.range.lowerBound) == nil)
                            } catch {
                                // Discarded and sealed anew, not so far: the reader asks again.
                                if kind == .plain { throw error }
                            }
                        }
                    }
                }
            }
        }
        #expect(generation.damagedBlocks == 0)
        try StoreFixture.fill(generation, content, ByteRange(0, 500))
        #expect(try StoreFixture.served(generation, content).ranges == [ByteRange(0, 500)])
    }
}
