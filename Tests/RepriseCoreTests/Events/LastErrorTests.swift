import RepriseCore
import RepriseHTTP
import ReprisePlatform
import RepriseTesting
import Testing

@Suite struct LastErrorTests {
    private func failure(_ message: String) -> CacheError { CacheError(.originTimedOut, message) }

    @Test func `the newest of each resource is kept, with its time`() {
        var errors = RecentErrors(limit: 3)
        errors.note(failure("first"), of: "a", at: 10)
        errors.note(failure("other"), of: "b", at: 11)
        errors.note(failure("second"), of: "a", at: 12)
        #expect(errors.last(of: "a") == LastError(failure("second"), time: 12))
        #expect(errors.last(of: "b")?.time == 11)
        #expect(errors.last(of: "c") == nil)
    }

    @Test func `the resource whose error is the oldest is forgotten first`() {
        var errors = RecentErrors(limit: 3)
        for (time, key) in ["a", "b", "c", "a", "d"].enumerated() {
            errors.note(failure(key), of: key, at: Int64(time))
        }
        #expect(errors.last(of: "b") == nil)
        #expect(["a", "c", "d"].allSatisfy { errors.last(of: $0) != nil })
        for number in 0..<1000 { errors.note(failure("x"), of: "\(number)", at: Int64(number)) }
        #expect((0..<1000).filter { errors.last(of: "\($0)") != nil } == [997, 998, 999])
    }

    @Test(arguments: [
        ("no answer", "no answer"),
        ("to http://user:secret@host/a.mp3?token=secret#secret failed", "to http://host/a.mp3 failed"),
        ("(https://host/a?x=secret) https://secret@b", "(https://host/a https://b"),
        ("a?b", "a?b"),
    ])
    func `a URL in a message keeps no secrets`(message: String, expected: String) {
        #expect(LastError(failure(message), time: 0).error.message == expected)
    }

    @Test func `what went wrong with a resource is told of it, and of no other`() throws {
        let world = try World { $0.tuning.openDeadline = second }
        world.put("/a.mp3", length: 1000) { $0.status = 404 }
        world.put("/b.mp3", length: 1000)
        #expect(world.play("/a.mp3").failure?.code == .originRefused(status: 404))
        world.play("/b.mp3").expectWhole(1000)
        let url = try #require(OriginURL("http://origin.test/a.mp3?X-Amz-Signature=secret"))
        let last = try #require(world.cache.resource(for: url).lastError)
        #expect(last.error.code == .originRefused(status: 404))
        #expect(last.time > 0)
        let other = try #require(OriginURL("http://origin.test/b.mp3"))
        #expect(world.cache.resource(for: other).lastError == nil)
    }

    @Test func `a disk that refuses is an error of the resource, too, inv22`() throws {
        let world = try World()
        world.put("/a.mp3", length: 100_000)
        world.files.setRule { operation, path, _ in
            operation == .write && path.contains("/body.") ? .error(FileError.noSpace) : nil
        }
        world.play("/a.mp3").expectWhole(100_000)
        let url = try #require(OriginURL("http://origin.test/a.mp3"))
        #expect(world.cache.resource(for: url).lastError?.error.code == .store)
    }
}
