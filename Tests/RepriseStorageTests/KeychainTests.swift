import ReprisePlatform
import RepriseStorage
import RepriseTesting
import Testing

/// A key from a keychain; what the system's own answers is read in `SystemKeychain`.
@Suite("A key in the keychain")
struct KeychainTests {
    /// A keychain that answers as it is told, and otherwise as one does.
    final class FakeItem: KeychainItem {
        private struct State {
            var bytes: [UInt8]?
            var readings: [KeychainReading] = []
            var additions: [KeychainAddition] = []
            /// What another process puts there before ours is added.
            var others: [UInt8]?
            var calls: [String] = []
        }

        private let state: Lock<State>

        init(
            _ bytes: [UInt8]? = nil, readings: [KeychainReading] = [], additions: [KeychainAddition] = [],
            others: [UInt8]? = nil
        ) {
            state = Lock(State(bytes: bytes, readings: readings, additions: additions, others: others))
        }

        var bytes: [UInt8]? { state.withLock { $0.bytes } }
        var calls: [String] { state.withLock { $0.calls } }

        func read() -> KeychainReading {
            state.withLock { state in
                state.calls.append("read")
                if !state.readings.isEmpty { return state.readings.removeFirst() }
                return state.bytes.map { .found($0) } ?? .missing
            }
        }

        func add(_ bytes: [UInt8]) -> KeychainAddition {
            state.withLock { state in
                state.calls.append("add")
                if !state.additions.isEmpty { return state.additions.removeFirst() }
                if let others = state.others { state.bytes = others }
                if state.bytes != nil { return .exists }
                state.bytes = bytes
                return .added
            }
        }
    }

    private func trouble(_ item: FakeItem) -> StoreError? {
        do throws(StoreError) {
            _ = try SealKey(in: item, named: "service/account")
            return nil
        } catch { return error }
    }

    static let stored = [UInt8](1...32)

    @Test func `one that is there is read, and nothing else is done`() throws {
        let item = FakeItem(KeychainTests.stored)
        #expect(try SealKey(in: item, named: "a").bytes == KeychainTests.stored)
        #expect(item.calls == ["read"])
    }

    @Test func `the first time one is made of random bytes, kept, and found from then on`() throws {
        let item = FakeItem()
        let key = try SealKey(in: item, named: "a")
        #expect(item.bytes == key.bytes && key.bytes.count == 32)
        #expect(try SealKey(in: item, named: "a").bytes == key.bytes)
        #expect(item.calls == ["read", "add", "read"])
        #expect(try SealKey(in: FakeItem(), named: "a").bytes != key.bytes)
    }

    @Test func `where another process makes one meanwhile, that one is taken`() throws {
        let item = FakeItem(others: KeychainTests.stored)
        #expect(try SealKey(in: item, named: "a").bytes == KeychainTests.stored)
        #expect(item.calls == ["read", "add", "read"])
    }

    @Test func `one that exists and is never found ends with an error, not with a key that is nowhere`() {
        let item = FakeItem(readings: [.missing, .missing], additions: [.exists, .exists])
        #expect(trouble(item)?.code == .unavailable)
        #expect(item.calls == ["read", "add", "read", "add"])
    }

    @Test func `before the first unlock nothing is made, and it says to try again`() {
        let item = FakeItem(KeychainTests.stored, readings: [.refused(.locked)])
        let error = trouble(item)
        #expect(error?.code == .unavailable)
        #expect(error?.message.contains("unlocked; try again then, nothing was changed") == true)
        #expect(item.calls == ["read"] && item.bytes == KeychainTests.stored)
        let later = FakeItem(additions: [.refused(.locked)])
        #expect(trouble(later)?.message.contains("unlocked") == true && later.bytes == nil)
    }

    @Test(arguments: [[], [1], [UInt8](repeating: 7, count: 31), [UInt8](repeating: 7, count: 33)])
    func `what is no key is left alone`(bytes: [UInt8]) {
        let item = FakeItem(bytes)
        let error = trouble(item)
        #expect(error?.code == .wrongKey)
        #expect(error?.message.contains("service/account in the keychain holds \(bytes.count) bytes") == true)
        #expect(item.calls == ["read"] && item.bytes == bytes)
    }

    @Test func `any other answer is told in the system's words`() {
        let words = "The authorization was denied, OSStatus -25293"
        for item in [
            FakeItem(readings: [.refused(.other(words))]), FakeItem(additions: [.refused(.other(words))]),
        ] {
            let error = trouble(item)
            #expect(error?.code == .unavailable && error?.cause == words)
        }
        #expect(trouble(FakeItem(readings: [.refused(.notEntitled)]))?.message.contains("entitlement") == true)
    }
}
