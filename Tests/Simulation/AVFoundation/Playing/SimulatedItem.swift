internal import Foundation

/// One item: where it plays, in bytes, and what of it has come.
///
///     enqueued → probe → index → first bytes (ready) → window ahead of the head, until the end
// @unchecked: its state is only touched in a turn.
final class SimulatedItem: SimulatedSubject, @unchecked Sendable {
    /// Not Sendable: handed out on the main actor only.
    let asset: AVAsset
    /// Who plays it; without a player nothing is asked for, and nothing is cancelled.
    weak var player: SimulatedPlayer?
    var isCurrent = false
    var preferredForwardBufferDuration = 0.0
    var status = AVPlayerItem.Status.unknown
    var error: NSError?

    var behaviour: SimulatedBehaviour
    var facts: SimulatedMedia.Facts?
    var length: Int64 = 0
    var head = 0.0
    var buffer: Range<Int64> = 0..<0
    var hasEnded = false
    var failure: NSError?
    var failureIsTold = false

    var indexParts: [(offset: Int64, enough: Int64)] = []
    var transfers: [Int: Transfer] = [:]
    var lastTransfer = 0
    var sources: [SimulatedRequest] = []
    var retriedAt: Int64?

    private var isPreparing = false
    private var pendingSeek: (@Sendable (Bool) -> Void)?
    private var shownFlags = [true, false, false]

    init(_ asset: AVAsset) {
        self.asset = asset
        behaviour = asset.simulatedMedia?.loader.simulationBehaviour ?? SimulatedBehaviour()
    }

    var isEmpty: Bool { buffer.upperBound <= Int64(head) && Int64(head) < length }
    var isFull: Bool { ahead >= window || buffer.upperBound >= length && length > 0 }
    var ahead: Int64 { buffer.upperBound - Int64(head) }
    var remaining: Int64 { length - Int64(head) }
    /// With waiting to minimize stalls, a loader's media starts only after a large share of it has come.
    var keepsUp: Bool { status == .readyToPlay && ahead >= min(window / 2, remaining / 4 * 3) }
    var duration: CMTime { facts == nil ? .indefinite : time(length) }
    var currentTime: CMTime { time(Int64(head)) }
    func time(_ bytes: Int64) -> CMTime { CMTime(value: bytes, timescale: CMTimeScale(behaviour.bytesPerSecond)) }
    var hasPendingSeek: Bool { pendingSeek != nil }

    func enter(_ player: SimulatedPlayer, isCurrent: Bool, _ turn: inout SimulatedTurn) {
        self.player = player
        self.isCurrent = isCurrent
        guard !isPreparing else { return review(&turn) }
        isPreparing = true
        guard let media = asset.simulatedMedia else {
            return fail(AVError.make(.operationNotSupportedForAsset), &turn)
        }
        behaviour = media.loader.simulationBehaviour
        turn.then { [asset] in
            withExtendedLifetime(asset) {
                media.prepare { [weak self] result in
                    guard let self else { return }
                    SimulatedTurn.take { self.prepared(result, &$0) }
                }
            }
        }
    }

    func leave() {
        player = nil
        isCurrent = false
    }

    private func prepared(_ result: Result<SimulatedMedia.Facts, any Error>, _ turn: inout SimulatedTurn) {
        switch result {
        case .failure(let error): fail(error as NSError, &turn)
        case .success(let facts):
            self.facts = facts
            length = facts.length
            head = min(head, Double(length))
            restartBuffer()
            if facts.isNative {
                buffer = 0..<length
            } else if behaviour.layout == .moovLast {
                let index = behaviour.indexOffset ?? max(0, (length - 1) / block - 1) * block
                indexParts = [(0, min(8192, length)), (index, length - index)]
            }
            changed(&turn, "duration")
            review(&turn)
        }
    }

    func fail(_ error: NSError, _ turn: inout SimulatedTurn) {
        status = .failed
        self.error = error
        finishSeek(false, &turn)
        changed(&turn, "status", "error")
        player?.review(&turn)
    }

    /// Looks at everything anew after a change.
    func review(_ turn: inout SimulatedTurn) {
        guard status != .failed, facts != nil else { return }
        fetch(&turn)
        if status == .unknown, indexParts.isEmpty, ahead >= min(16384, remaining) {
            status = .readyToPlay
            changed(&turn, "status")
        }
        if hasPendingSeek, status == .readyToPlay, !isEmpty { finishSeek(true, &turn) }
        if let failure, isCurrent, isEmpty || status == .unknown, !failureIsTold {
            failureIsTold = true
            if status == .unknown { return fail(failure, &turn) }
            finishSeek(false, &turn)
            turn.post(AVPlayerItem.failedToPlayToEndTimeNotification, from: self, error: failure)
            player?.setRate(0, &turn)
        }
        let flags = [isEmpty, keepsUp, isFull]
        let names = ["isPlaybackBufferEmpty", "isPlaybackLikelyToKeepUp", "isPlaybackBufferFull"]
        for (index, name) in names.enumerated() where flags[index] != shownFlags[index] { changed(&turn, name) }
        shownFlags = flags
        if isCurrent { player?.review(&turn) }
    }

    /// Plays for so many seconds at most, and says for how many there were bytes.
    func play(_ seconds: Double, rate: Double, _ turn: inout SimulatedTurn) -> Double {
        let speed = rate * Double(behaviour.bytesPerSecond)
        let target = min(head + seconds * speed, Double(min(buffer.upperBound, length)))
        let used = (target - head) / speed
        head = target
        // What was played is let go of, block by block.
        let played = Int64(head) >= length ? length : Int64(head) / block * block
        let start = min(max(buffer.lowerBound, played), buffer.upperBound)
        if start > buffer.lowerBound, facts?.isNative == false {
            buffer = start..<buffer.upperBound
            for source in sources { source.release(before: start) }
            sources.removeAll { $0.retainedBytes == 0 && $0.record.outcome != nil }
            changed(&turn, "loadedTimeRanges")
        }
        review(&turn)
        return used
    }

    func seek(to time: CMTime, _ turn: inout SimulatedTurn, _ completion: (@Sendable (Bool) -> Void)?) {
        guard time.isValid, !time.isIndefinite, !time.isNegativeInfinity else {
            trap("a seek to a time that is not one")
            return
        }
        finishSeek(false, &turn)
        guard status != .failed else {
            if let completion { turn.then { completion(false) } }
            return
        }
        let bytes = max(0, (time.seconds * Double(behaviour.bytesPerSecond)).rounded(.down))
        head = facts == nil ? min(bytes, 1e18) : min(bytes, Double(length))
        hasEnded = false
        (failure, failureIsTold, retriedAt) = (nil, false, nil)
        pendingSeek = completion ?? { _ in }
        turn.post(AVPlayerItem.timeJumpedNotification, from: self)
        player?.jumped(self, &turn)
        let isInside = buffer.lowerBound <= Int64(head) && Int64(head) <= buffer.upperBound
        guard facts?.isNative == false, !isInside else { return review(&turn) }
        let old = transfers.filter { $0.value.purpose != .index && !$0.value.isCancelled }.keys.sorted()
        if behaviour.cancelsBeforeNewRequest { for key in old { cancel(key, &turn) } }
        for key in old { transfers[key]?.isStale = true }
        restartBuffer()
        changed(&turn, "loadedTimeRanges")
        review(&turn)
        if !behaviour.cancelsBeforeNewRequest { for key in old { cancel(key, &turn) } }
    }

    func finishSeek(_ isFinished: Bool, _ turn: inout SimulatedTurn) {
        guard let completion = pendingSeek else { return }
        pendingSeek = nil
        turn.then { completion(isFinished) }
    }

    private func restartBuffer() {
        let start = Int64(head) >= length ? length : Int64(head) / block * block
        for source in sources { source.release(before: .max) }
        sources.removeAll { $0.record.outcome != nil }
        buffer = start..<start
    }
}
