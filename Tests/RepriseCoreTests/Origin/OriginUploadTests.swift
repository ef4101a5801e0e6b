import RepriseCore
import RepriseTesting
import Testing

/// A request's body that comes while it is sent.
@Suite struct OriginUploadTests {
    private let demands = Recorder<Int>()
    private let told = Recorder<OriginUpload.Piece>()

    private func makeUpload() -> OriginUpload {
        let demands = demands
        return OriginUpload(length: nil) { demands.add(1) }
    }

    private func ask(_ upload: OriginUpload) {
        let told = told
        upload.next { told.add($0) }
    }

    @Test func `what is there is told at once, what is not when it comes`() {
        let upload = makeUpload()
        #expect(!upload.hasBegun && !upload.holdsBytes)
        upload.append([1])
        upload.append([2, 3])
        #expect(upload.holdsBytes && told.all.isEmpty)
        ask(upload)
        #expect(told.all == [.bytes([1, 2, 3])] && demands.all.isEmpty && upload.hasBegun && !upload.holdsBytes)
        ask(upload)
        #expect(demands.all == [1] && told.all.count == 1)
        upload.append([4])
        upload.append([5])
        #expect(told.all.last == .bytes([4]) && upload.holdsBytes, "a piece for each demand")
    }

    @Test func `the end comes behind all bytes, and each time it is asked for`() {
        let upload = makeUpload()
        upload.append([1])
        upload.end()
        upload.fail()
        for _ in 0..<3 { ask(upload) }
        #expect(told.all == [.bytes([1]), .end, .end])
    }

    @Test func `what is not wanted any more is not held`() {
        let upload = makeUpload()
        upload.append([1])
        upload.drop()
        upload.append([2])
        #expect(!upload.holdsBytes)
        ask(upload)
        #expect(told.all.isEmpty)
        upload.fail()
        #expect(told.all == [.broken])
    }

    @Test(arguments: [false, true])
    func `one of which a part was dropped never ends, whoever asked first`(isAskedBefore: Bool) {
        let upload = makeUpload()
        if isAskedBefore { ask(upload) }
        upload.drop()
        upload.append([1])
        upload.end()
        if !isAskedBefore { ask(upload) }
        #expect(told.all.isEmpty)
        upload.fail()
        #expect(told.all == [.broken])
    }

    @Test func `one that is whole cannot be dropped`() {
        let upload = makeUpload()
        upload.append([1])
        upload.end()
        upload.drop()
        for _ in 0..<2 { ask(upload) }
        #expect(told.all == [.bytes([1]), .end])
    }

    @Test func `it is there for one who asks alone`() {
        let upload = makeUpload()
        ask(upload)
        ask(upload)
        #expect(told.all == [.broken])
        upload.append([1])
        #expect(told.all == [.broken, .bytes([1])])
    }

    @Test func `one that broke off tells so at once, and never an end`() {
        let upload = makeUpload()
        ask(upload)
        upload.fail()
        #expect(told.all == [.broken])
        upload.append([1])
        upload.end()
        ask(upload)
        #expect(told.all == [.broken, .broken])
    }
}
