package import RepriseHTTP
package import ReprisePlatform
import RepriseRanges
package import RepriseStorage

/// Asks the origin for the stored ranges of a resource again and compares them with what is stored. Changes nothing.
///
/// One request for each stored range, none for what is not stored; an origin without ranges sends everything once. The bytes
/// that come are compared piece by piece and let go, so that memory is bounded whatever the length. A connection that breaks
/// off is made anew at the byte it broke off at, as long as each brings some.
package struct OriginCheck: Sendable {
    private let request: ResourceRequest
    private let client: any OriginClient
    private let queues: any WorkQueues
    private let tuning: TransferTuning
    private let hosts: HostTable?
    private let origins: [String]

    /// - Parameters:
    ///   - tuning: How long an answer may take.
    ///   - places: Where else the resource is.
    ///   - hosts: Which hosts asked to be left alone: none of these is asked, and one that asks for it now is noted.
    package init(
        _ request: ResourceRequest, by client: any OriginClient, on queues: any WorkQueues,
        tuning: TransferTuning = TransferTuning(), places: [OriginURL] = [], hosts: HostTable? = nil
    ) {
        self.hosts = hosts
        origins = places.isEmpty ? [request.url.origin] : places.map(\.origin)
        self.tuning = tuning
        self.request = request
        self.client = client
        self.queues = queues
    }

    /// Compares.
    /// - Throws: `CacheError`: those of the origin, and `.store` where what is stored cannot be read.
    package func compare(_ snapshot: EntrySnapshot) async throws(CacheError) -> OriginComparison {
        var run = Run(snapshot)
        do { try await run.compare(self) } catch let error as CacheError { throw error } catch {
            throw CacheError.taskCancelled
        }
        return run.comparison
    }

    /// The wait that all of its places asked for; `nil` where one may be asked.
    private var holdOff: HostTable.HoldOff? {
        guard let hosts else { return nil }
        let (key, now) = (request.key, queues.now())
        let holdOffs = origins.map { hosts.holdOff(of: $0, for: key, now: now) }
        return holdOffs.contains { $0 == nil } ? nil : holdOffs.first ?? nil
    }

    /// Its only place asks to be left alone; of several the client knows which.
    private func note(_ error: CacheError) {
        guard origins.count == 1, let origin = origins.first else { return }
        hosts?.noteHoldOff(origin, request.key, error, now: queues.now())
    }

    /// How far it is.
    private struct Run {
        let snapshot: EntrySnapshot
        var comparison: OriginComparison
        var stored: StoredBytes

        init(_ snapshot: EntrySnapshot) {
            self.snapshot = snapshot
            comparison = OriginComparison(storedLength: snapshot.info.length)
            stored = StoredBytes(snapshot)
        }

        mutating func compare(_ check: OriginCheck) async throws {
            // An answer may reach over several of them.
            var position: Int64 = 0
            for range in snapshot.claimed.ranges {
                position = max(position, range.lowerBound)
                while position < range.upperBound {
                    switch try await ask(check, ByteRange(position, range.upperBound)) {
                    case .reached(let next): position = next
                    case .ended:
                        comparison.notThere(ByteRange(position, range.upperBound))
                        position = range.upperBound
                    case .all: return
                    }
                }
            }
        }

        private enum Outcome {
            /// Bytes up to there were compared, at least one.
            case reached(Int64)
            /// The origin's end is before what was asked for.
            case ended
            /// The origin sent everything.
            case all
        }

        private mutating func ask(_ check: OriginCheck, _ range: ByteRange) async throws -> Outcome {
            if let holdOff = check.holdOff { throw holdOff.error }
            var fields = check.request.fields
            fields["Accept-Encoding"] = "identity"
            fields["Range"] = "bytes=\(range.lowerBound)-\(range.upperBound - 1)"
            let body = OriginBody(
                OriginRequest(url: check.request.url, fields: fields), by: check.client, on: check.queues, check.tuning)
            let head = try await body.head()
            switch ResponseJudge(asked: range, held: nil, now: check.queues.wallClock()).verdict(head) {
            case .part(let part, let total):
                note(head, total)
                return .reached(
                    try await follow(
                        body, check, left(from: range.lowerBound).intersection(part), from: part.lowerBound,
                        past: range.lowerBound))
            case .whole(let length):
                note(head, length)
                let rest = left(from: range.lowerBound)
                let end = try await follow(body, check, rest, from: nil)
                for left in rest.ranges where left.upperBound > end {
                    comparison.notThere(ByteRange(max(left.lowerBound, end), left.upperBound))
                }
                return .all
            case .pastEnd(let length):
                note(head, length)
                return .ended
            case .refused(let status):
                throw CacheError(answered: status)
            case .busy(let status, let retryAfter):
                let error = CacheError(answered: status, retryAfter: retryAfter)
                check.note(error)
                throw error
            case .invalid(let mismatch): throw CacheError(.originInvalid, mismatch.reason)
            case .changed, .notModified:
                throw CacheError(.originInvalid, "the origin answered \(head.status) to a request without a condition")
            }
        }

        /// What is stored from `offset` on. What was compared before is the same again, and counts once.
        private func left(from offset: Int64) -> ByteRangeSet { snapshot.claimed.intersection(.from(offset)) }

        private mutating func note(_ head: OriginResponseHead, _ length: Int64?) {
            if let length { comparison.originLength = length }
            let (old, new) = (snapshot.info.validator, Validator(fields: head.fields))
            if let tag = old.entityTag, let other = new.entityTag {
                comparison.hasOtherValidator = tag != other
            } else if old.lastModified != nil, new.lastModified != nil {
                comparison.hasOtherValidator = !old.hasDate(of: new)
            }
        }

        /// Compares a body with what is stored of `wanted`; answers where it ended.
        /// - Parameters:
        ///   - first: Where the body begins; `nil` for a whole one, which cannot be gone on with where it breaks off.
        ///   - asked: The first byte that was asked for: an answer that breaks off before it brought nothing.
        private mutating func follow(
            _ body: OriginBody, _ check: OriginCheck, _ wanted: ByteRangeSet, from first: Int64?, past asked: Int64 = 0
        ) async throws -> Int64 {
            var position = first ?? 0
            let end = wanted.upperBound
            while position < end {
                let chunk: ArraySlice<UInt8>?
                do { chunk = try await body.piece() } catch let error as CacheError {
                    if first == nil || position <= asked { throw error }
                    break
                }
                guard let chunk else { break }
                try Task.checkCancellation()
                // What cannot be read of the store is not the origin's failure: nothing is asked again for it.
                try await take(chunk, at: position, wanted, check)
                position += Int64(chunk.count)
            }
            if position <= asked, first != nil {
                throw CacheError(.originInvalid, "the origin sent no byte of what was asked for")
            }
            return min(position, end)
        }

        private mutating func take(
            _ piece: ArraySlice<UInt8>, at offset: Int64, _ wanted: ByteRangeSet, _ check: OriginCheck
        ) async throws {
            let range = ByteRange(offset: offset, count: Int64(piece.count))
            let (comparison, stored) = (comparison, stored)
            let answer = await check.queues.reading { () -> Result<(OriginComparison, StoredBytes), CacheError> in
                var (comparison, stored) = (comparison, stored)
                do throws(StoreError) {
                    for part in wanted.intersection(range).ranges {
                        try OriginCheck.compare(piece, at: offset, part, &comparison, &stored)
                    }
                } catch { return .failure(CacheError(error)) }
                return .success((comparison, stored))
            }
            (self.comparison, self.stored) = try answer.get()
        }
    }

    private static func compare(
        _ piece: ArraySlice<UInt8>, at offset: Int64, _ part: ByteRange, _ comparison: inout OriginComparison,
        _ stored: inout StoredBytes
    ) throws(StoreError) {
        var position = part.lowerBound
        while position < part.upperBound {
            let ours = try stored.next(in: ByteRange(position, part.upperBound))
            switch ours {
            case .bytes(let bytes):
                let first = piece.startIndex + Int(position - offset)
                comparison.take(piece[first..<first + bytes.count], stored: bytes, at: position)
            case .damaged(let count): comparison.notVerified(ByteRange(offset: position, count: count))
            case .gone: break
            }
            position += ours.count
        }
    }
}
