import RepriseHTTP
import RepriseRanges
import RepriseStorage
import RepriseTesting
import Testing

@testable import RepriseCore

/// Two generations of an entry, for machines that only pass them on.
struct TwoGenerations {
    let first: Generation
    let second: Generation

    init() throws {
        let store = try Store(root: "/store", volume: SimulatedDisk(), layout: BlockLayout(blockSize: 64))
        func make(_ number: Int) throws -> Generation {
            let info = EntryInfo(
                key: "k", url: "http://h.test/k", generation: number, identity: UInt64(number), fileExtension: "mp3",
                validator: Validator(fields: [:]), length: nil, servesRanges: true, fields: [:], checked: 0)
            return try store.stage(info).generation
        }
        first = try make(1)
        second = try make(2)
    }
}

/// What comes of a fill buffer's inputs, without disk or clock.
@Suite struct FillBufferTests {
    private let layout = BlockLayout(blockSize: 64)
    private let generations: TwoGenerations

    init() throws { generations = try TwoGenerations() }

    private func buffer(at offset: Int64 = 0, _ bytes: Int = 100) -> FillBuffer {
        var buffer = FillBuffer(id: BufferID(number: 1), representation: 1, at: offset)
        buffer.append([UInt8](repeating: 1, count: bytes)[...])
        return buffer
    }

    private var disk: FillBuffer.Destination { .disk(FillWriter(generation: generations.first)) }

    private func write(_ buffer: inout FillBuffer, isSealed: Bool = false, now: Int64 = 0) throws -> WriteOrder {
        let order = buffer.beginWrite(layout: layout, isSealed: isSealed, now: now)
        return try #require(order)
    }

    @Test func `the same first bytes are kept once, however often an answer breaks off`() {
        var table = FillBufferTable()
        for count in [100, 100, 40, 120, 120] {
            let id = table.make(for: 1, at: 0, .undecided)
            table.append([UInt8](repeating: 1, count: count)[...], to: id)
            table.release(id)
            #expect(table.bytesInMemory == table.heldEnd(1, from: 0))
        }
        #expect(table.heldEnd(1, from: 0) == 120)
    }

    @Test func `nothing is written before the store has decided, nor where it declined`() {
        var buffer = buffer()
        let result1 = buffer.beginWrite(layout: layout, isSealed: false, now: 0)
        #expect(result1 == nil)
        #expect(buffer.awaitsDisk)
        buffer.setDestination(.none)
        let result2 = buffer.beginWrite(layout: layout, isSealed: false, now: 0)
        #expect(result2 == nil)
        #expect(!buffer.awaitsDisk && buffer.undrained == 0 && buffer.bytesInMemory == 100)
    }

    @Test func `one write is in flight at a time, and its ticket drains its own bytes`() throws {
        var buffer = buffer()
        buffer.setDestination(disk)
        let order = try write(&buffer, isSealed: false, now: 7)
        #expect(order.ticket.range == ByteRange(0, 100) && buffer.writingSince == 7)
        buffer.append([2, 2][...])
        let result3 = buffer.beginWrite(layout: layout, isSealed: false, now: 8)
        #expect(result3 == nil)
        let result4 = buffer.endWrite(order.ticket, .stored)
        #expect(result4)
        #expect(buffer.drained == 100 && buffer.undrained == 2 && !buffer.isWriting)
        let next = try write(&buffer, isSealed: false, now: 9)
        #expect(next.ticket.range == ByteRange(100, 102))
        // A second result for the first write says nothing of the second.
        let result5 = buffer.endWrite(order.ticket, .stored)
        #expect(!result5)
        #expect(buffer.isWriting)
    }

    @Test(arguments: [FillBuffer.WriteResult.failed, .notDone])
    func `bytes of a write that did not happen stay, and can be written again`(result: FillBuffer.WriteResult) throws {
        var buffer = buffer()
        buffer.setDestination(disk)
        let order = try write(&buffer, isSealed: false, now: 0)
        let result6 = buffer.endWrite(order.ticket, result)
        #expect(result6)
        #expect(buffer.undrained == 100)
        let result7 = buffer.beginWrite(layout: layout, isSealed: false, now: 0)
        #expect(result7?.ticket.range == ByteRange(0, 100))
    }

    @Test func `the result of a write to earlier files drains nothing of what new files are to have, inv01`() throws {
        var buffer = buffer()
        buffer.setDestination(disk)
        let order = try write(&buffer, isSealed: false, now: 0)
        buffer.setDestination(.undecided)
        buffer.setDestination(.disk(FillWriter(generation: generations.second)))
        let result8 = buffer.beginWrite(layout: layout, isSealed: false, now: 0)
        #expect(result8 == nil, "the first is in flight still")
        let result9 = buffer.endWrite(order.ticket, .stored)
        #expect(!result9)
        #expect(buffer.undrained == 100)
        let result10 = buffer.beginWrite(layout: layout, isSealed: false, now: 0)
        #expect(result10?.ticket.range == ByteRange(0, 100))
    }

    @Test func `a released buffer is spent once its bytes are written, or are not to be stored and read`() throws {
        var written = buffer()
        written.setDestination(disk)
        written.release()
        #expect(!written.isSpent)
        let order = try write(&written, isSealed: false, now: 0)
        let result11 = written.endWrite(order.ticket, .stored)
        #expect(result11)
        #expect(written.isSpent)
        var passed = buffer()
        passed.setDestination(.none)
        passed.release()
        #expect(!passed.isSpent)
        passed.trimUnstored(before: nil, tail: 10, isJoined: false)
        #expect(passed.isSpent)
    }

    @Test func `a buffer whose write hangs counts its bytes and is not spent`() throws {
        var buffer = buffer()
        buffer.setDestination(disk)
        _ = buffer.beginWrite(layout: layout, isSealed: false, now: 0)
        buffer.setDestination(.none)
        buffer.release()
        buffer.trimUnstored(before: nil, tail: 10, isJoined: false)
        #expect(buffer.bytesInMemory == 100 && buffer.awaitsDisk && !buffer.isSpent)
    }

    @Test func `a block of a sealed store is written when it is full, or when nothing more comes`() throws {
        var buffer = buffer(at: 0, 100)
        buffer.setDestination(disk)
        let full = try write(&buffer, isSealed: true, now: 0)
        #expect(full.ticket.range == ByteRange(0, 64))
        let result12 = buffer.endWrite(full.ticket, .stored)
        #expect(result12)
        let result13 = buffer.beginWrite(layout: layout, isSealed: true, now: 0)
        #expect(result13 == nil)
        for rest in [{ $0.setAtRest(true) }, { $0.release() }, { $0.follow() }] as [(inout FillBuffer) -> Void] {
            var resting = buffer
            rest(&resting)
            let result14 = resting.beginWrite(layout: layout, isSealed: true, now: 0)
            #expect(result14?.ticket.range == ByteRange(64, 100))
        }
        buffer.setAtRest(true)
        buffer.setAtRest(false)
        let result15 = buffer.beginWrite(layout: layout, isSealed: true, now: 0)
        #expect(result15 == nil)
    }

    @Test func `of what is not stored the last bytes stay while a transfer or a reader may go on from them, inv16`() {
        var buffer = FillBuffer(id: BufferID(number: 1), representation: 1, at: 0)
        buffer.setDestination(.none)
        for _ in 0..<10 { buffer.append([UInt8](repeating: 1, count: 4096)[...]) }
        let (last, end) = (ByteRange(9 * 4096, 10 * 4096), Int64(10 * 4096))
        buffer.trimUnstored(before: nil, tail: 10, isJoined: false)
        #expect(buffer.range == last)
        buffer.trimUnstored(before: end - 5, tail: 10, isJoined: true)
        #expect(buffer.range == last)
        buffer.release()
        buffer.trimUnstored(before: nil, tail: 10, isJoined: true)
        #expect(buffer.range == last && !buffer.isSpent)
        buffer.trimUnstored(before: nil, tail: 10, isJoined: false)
        #expect(buffer.isSpent)
    }
}

/// The buffers of an entry together.
@Suite struct FillBufferTableTests {
    private let layout = BlockLayout(blockSize: 64)
    private let generations: TwoGenerations

    init() throws { generations = try TwoGenerations() }

    private func bytes(_ count: Int) -> ArraySlice<UInt8> { [UInt8](repeating: 1, count: count)[...] }
    private func disk() -> FillBuffer.Destination { .disk(FillWriter(generation: generations.first)) }

    @Test func `a block is not written from its middle before its beginning is`() throws {
        var table = FillBufferTable()
        let first = table.make(for: 1, at: 0, disk())
        let second = table.make(for: 1, at: 70, disk())
        table.append(bytes(70), to: first)
        table.append(bytes(30), to: second)
        let orders = table.beginWrites(of: 1, layout: layout, isSealed: false, now: 0)
        #expect(orders.map(\.ticket.buffer) == [first])
        let ticket = try #require(orders.first?.ticket)
        let result16 = table.endWrite(ticket, .stored)
        #expect(result16 == .current(1))
        let result17 = table.beginWrites(of: 1, layout: layout, isSealed: false, now: 0)
        #expect(result17.map(\.ticket.buffer) == [second])
    }

    @Test func `a result for a buffer that is gone is nobody's`() throws {
        var table = FillBufferTable()
        let id = table.make(for: 1, at: 0, disk())
        table.append(bytes(10), to: id)
        let orders = table.beginWrites(of: 1, layout: layout, isSealed: false, now: 0)
        let order = try #require(orders.first)
        table.drop(1)
        let result18 = table.endWrite(order.ticket, .stored)
        #expect(result18 == .unknown)
        #expect(table.isEmpty && table.unwritten == 0)
    }

    @Test func `what a write for another destination took is written again once it has ended`() throws {
        var table = FillBufferTable()
        let id = table.make(for: 1, at: 0, disk())
        table.append(bytes(100), to: id)
        let first = table.beginWrites(of: 1, layout: layout, isSealed: false, now: 7)
        let order = try #require(first.first)
        table.setDestination(of: 1) { disk() }
        let meanwhile = table.beginWrites(of: 1, layout: layout, isSealed: false, now: 8)
        #expect(meanwhile.isEmpty, "one write a buffer at a time")
        let ended = table.endWrite(order.ticket, .stored)
        #expect(ended == .outdated(1))
        let again = table.beginWrites(of: 1, layout: layout, isSealed: false, now: 9)
        #expect(again.map(\.ticket.range) == [order.ticket.range])
    }

    @Test func `representations do not see each other's bytes`() {
        var table = FillBufferTable()
        table.append(bytes(10), to: table.make(for: 1, at: 0, .undecided))
        table.append(bytes(20), to: table.make(for: 2, at: 0, .none))
        #expect(table.heldEnd(1, from: 0) == 10)
        #expect(table.slice(1, at: 15, limit: 5) == nil)
        #expect(table.slice(2, at: 15, limit: 5)?.count == 5)
        #expect(table.holds(ByteRange(0, 20), of: 2) && !table.holds(ByteRange(0, 20), of: 1))
        #expect(table.bytes(of: 2, before: 20, limit: 4)?.count == 4)
        #expect(table.unwritten == 10 && table.bytesInMemory == 30)
    }

    // MARK: The table

    @Test func `what a dropped buffer's write may still store is known until it ended`() throws {
        var table = FillBufferTable()
        let id = table.make(for: 1, at: 0, disk())
        table.append([1, 2, 3], to: id)
        let order = try #require(table.beginWrites(of: 1, layout: layout, isSealed: false, now: 0).first)
        table.drop(1)
        #expect(table.isEmpty && table.mayStillStore(1) && !table.mayStillStore(2))
        #expect(table.endWrite(order.ticket, .stored) == .unknown)
        #expect(!table.mayStillStore(1))
    }

    @Test func `bytes before an offset are joined over the buffers that hold them`() {
        var table = FillBufferTable()
        let first = table.make(for: 1, at: 10, .undecided)
        table.append([10, 11, 12], to: first)
        let second = table.make(for: 1, at: 13, .undecided)
        table.append([13], to: second)
        #expect(table.bytes(of: 1, before: 14, limit: 3) == [11, 12, 13])
        #expect(table.bytes(of: 1, before: 14, limit: 30) == [10, 11, 12, 13])
        #expect(table.bytes(of: 1, before: 15, limit: 3) == nil)
        #expect(table.bytes(of: 2, before: 14, limit: 3) == nil)
    }
}
