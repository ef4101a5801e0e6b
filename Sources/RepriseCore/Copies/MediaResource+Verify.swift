import ReprisePlatform
public import RepriseRanges
import RepriseStorage

/// Checking what is stored, changing nothing.
extension MediaResource {
    /// What stored bytes of a resource are like.
    public struct Verification: Sendable, Hashable {
        /// Bytes that match their checksum.
        public var verified: Int64 = 0
        /// Bytes that are stored and do not; half-open, in order. Nobody is served them: they are fetched again.
        public var damaged: [ByteRange] = []

        /// Nothing looked at.
        public init() {}
    }

    /// Reads all that is stored and verifies the checksum of every block.
    /// - Throws: `CacheError` with `.store` where it cannot be read now, or is damaged beyond use.
    public func verify() async throws(CacheError) -> Verification {
        guard let snapshot = try await snapshot() else { return Verification() }
        var result = Verification()
        for range in snapshot.claimed.ranges {
            var position = range.lowerBound
            while position < range.upperBound {
                if Task.isCancelled { throw CacheError.taskCancelled }
                let piece = ByteRange(position, min(range.upperBound, position.adding(MediaResource.step)))
                let current = result
                result = try await cache.onReadPool { () throws(StoreError) in try current.adding(piece, of: snapshot) }
                position = piece.upperBound
            }
        }
        return result
    }

    /// Asks the origin for the stored ranges again and compares them with what is stored. It costs the origin as many bytes
    /// as are stored.
    /// - Throws: `CacheError`: those of reading; `.incomplete` where nothing is stored.
    public func compareWithOrigin() async throws(CacheError) -> OriginComparison {
        guard let snapshot = try await snapshot() else {
            throw CacheError(.incomplete, "nothing is stored of \(request.url)")
        }
        do throws(StoreError) { try snapshot.expectResource() } catch { throw CacheError(error) }
        do throws(CacheError) {
            let environment = cache.environment
            // Where many share the cache, a 429 is one user's.
            let hosts = environment.freshness == .http ? nil : environment.hosts
            var request = request
            if let newest = environment.freshURLs?.newest(request.url) {
                request.fields = ResponseSelector.allowed(Caller(request.fields, for: request.url), at: newest)
                request.url = newest
            }
            return try await OriginCheck(
                request, by: environment.failover, on: environment.queues, tuning: environment.tuning,
                places: environment.mirrors.places(of: request.url)?.locations ?? [], hosts: hosts
            )
            .compare(snapshot)
        } catch {
            throw cache.status == .closed ? CacheError(.closed, "the cache was closed") : error
        }
    }

    /// Bytes that are verified at a time.
    static let step: Int64 = 4 << 20

    private func snapshot() async throws(CacheError) -> EntrySnapshot? {
        let store = try cache.keptStore()
        return try await cache.onReadPool { () throws(StoreError) in
            try store.snapshot(key: self.chosen(in: store).key.text)
        }
    }
}

extension MediaResource.Verification {
    fileprivate func adding(_ range: ByteRange, of snapshot: EntrySnapshot) throws(StoreError) -> Self {
        var result = self
        var stored = StoredBytes(snapshot)
        var position = range.lowerBound
        while position < range.upperBound {
            let piece = try stored.next(in: ByteRange(position, range.upperBound))
            switch piece {
            case .bytes(let bytes): result.verified += Int64(bytes.count)
            case .damaged(let count): result.damaged.append(joining: ByteRange(offset: position, count: count))
            case .gone: break
            }
            position += piece.count
        }
        return result
    }
}
