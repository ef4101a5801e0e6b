import AVFoundation
import Dispatch
import Foundation

/// A player on a clock of its own, and an item whose loader is answered from position-coded bytes.
struct PlayerStage {
    let clock = SimulatedClock()
    let player: AVQueuePlayer
    let origin: PlayedOrigin
    let item: AVPlayerItem

    var record: SimulatedLoaderRecord { origin.record }

    init(length: Int64, isOnDemand: Bool = false, behaviour: SimulatedBehaviour = SimulatedBehaviour()) {
        player = SimulatedClock.$shared.withValue(clock) { AVQueuePlayer() }
        player.actionAtItemEnd = .pause
        player.automaticallyWaitsToMinimizeStalling = false
        origin = PlayedOrigin(length: length, isOnDemand: isOnDemand, behaviour: behaviour)
        item = AVPlayerItem(asset: origin.asset)
    }

    /// Gives the item to the player, and waits until it can be played.
    func ready() async throws {
        player.replaceCurrentItem(with: item)
        try await item.simulationReached { $0.status == .readyToPlay }
    }

    /// Waits until so many requests have reached the delegate, or the last of them has ended.
    func untilRequests(_ count: Int, ended: Bool = false) async throws {
        while record.requests.count < count || ended && record.requests[count - 1].outcome == nil {
            try Task.checkCancellation()
            await Task.yield()
        }
        origin.settle()
    }
}

/// Answers everything at once in pieces of 64 KiB, up to a limit that a test moves.
// @unchecked: its state is confined to its queue.
final class PlayedOrigin: NSObject, AVAssetResourceLoaderDelegate, @unchecked Sendable {
    let asset: AVURLAsset
    private let queue = DispatchQueue(label: "origin")
    private let length: Int64
    private let isOnDemand: Bool
    private var limit = Int64.max
    private var failures: [any Error] = []
    private var heard: [String] = []
    private var open: [AVAssetResourceLoadingRequest] = []

    init(length: Int64, isOnDemand: Bool = false, behaviour: SimulatedBehaviour = SimulatedBehaviour()) {
        self.length = length
        self.isOnDemand = isOnDemand
        asset = AVURLAsset(url: URL(string: "own://host/film.mp4")!)
        super.init()
        asset.resourceLoader.simulationBehaviour = behaviour
        asset.resourceLoader.setDelegate(self, queue: queue)
    }

    var record: SimulatedLoaderRecord { asset.resourceLoader.simulationRecord }
    /// What the delegate heard, in order.
    var events: [String] { queue.sync { heard } }

    /// Bytes from here on are held back.
    func hold(at limit: Int64) { queue.sync { self.limit = limit } }
    /// Everything goes on.
    func release(to limit: Int64 = .max) {
        queue.async {
            self.limit = limit
            for request in self.open { self.pump(request) }
        }
    }
    /// The next requests that reach the limit fail with these, one after the other.
    func fail(with errors: [any Error]) {
        queue.async {
            self.failures = errors
            for request in self.open { self.pump(request) }
        }
    }
    /// Everything open is finished as it stands.
    func finishEarly() { queue.async { for request in self.open { self.finish(request, nil) } } }
    /// Waits until everything asked for so far was answered.
    func settle() { queue.sync {} }

    func resourceLoader(
        _ resourceLoader: AVAssetResourceLoader,
        shouldWaitForLoadingOfRequestedResource loadingRequest: AVAssetResourceLoadingRequest
    ) -> Bool {
        if let information = loadingRequest.contentInformationRequest {
            information.contentType = AVFileType.mp4.rawValue
            information.contentLength = length
            information.isByteRangeAccessSupported = true
            information.isEntireLengthAvailableOnDemand = isOnDemand
        }
        heard.append("ask")
        open.append(loadingRequest)
        queue.async { self.pump(loadingRequest) }
        return true
    }

    func resourceLoader(
        _ resourceLoader: AVAssetResourceLoader, didCancel loadingRequest: AVAssetResourceLoadingRequest
    ) {
        heard.append("cancel")
        open.removeAll { $0 === loadingRequest }
    }

    // One piece a turn of the queue, so that a cancel can come between.
    private func pump(_ request: AVAssetResourceLoadingRequest) {
        guard let data = request.dataRequest, !request.isFinished, !request.isCancelled else { return }
        let (end, overflows) = data.requestedOffset.addingReportingOverflow(Int64(data.requestedLength))
        let last = overflows ? length : min(end, length)
        let count = min(65536, last - data.currentOffset, limit - data.currentOffset)
        if data.currentOffset >= last { return finish(request, nil) }
        guard count > 0 else {
            if !failures.isEmpty { finish(request, failures.removeFirst()) }
            return
        }
        data.respond(with: Data(count: Int(count)))
        queue.async { self.pump(request) }
    }

    private func finish(_ request: AVAssetResourceLoadingRequest, _ error: (any Error)?) {
        open.removeAll { $0 === request }
        if let error { request.finishLoading(with: error) } else { request.finishLoading() }
    }
}

/// The notifications of an item and what changed of it, in order.
// @unchecked: its state is only touched with the lock held.
final class Log: @unchecked Sendable {
    private let lock = NSLock()
    private var posted: [String] = []
    private var onMain = 0
    private var errors: [Int] = []
    private var tokens: [any NSObjectProtocol] = []

    var notifications: [String] { lock.withLock { posted } }
    var mainThreadPosts: Int { lock.withLock { onMain } }
    var errorCodes: [Int] { lock.withLock { errors } }

    init(of item: AVPlayerItem) {
        let names = [
            AVPlayerItem.didPlayToEndTimeNotification, AVPlayerItem.failedToPlayToEndTimeNotification,
            AVPlayerItem.playbackStalledNotification, AVPlayerItem.timeJumpedNotification,
        ]
        tokens = names.map { name in
            NotificationCenter.default.addObserver(forName: name, object: item, queue: nil) {
                [weak self] notification in
                guard let self else { return }
                let error = notification.userInfo?[AVPlayerItemFailedToPlayToEndTimeErrorKey] as? NSError
                self.lock.withLock {
                    self.posted.append(notification.name.rawValue)
                    if Thread.isMainThread { self.onMain += 1 }
                    if let error { self.errors.append(error.code) }
                }
            }
        }
    }

    deinit { for token in tokens { NotificationCenter.default.removeObserver(token) } }
}

/// Times as they were told.
// @unchecked: its state is only touched with the lock held.
final class Times: @unchecked Sendable {
    private let lock = NSLock()
    private var told: [Double] = []
    var all: [Double] { lock.withLock { told } }
    func add(_ time: CMTime) { lock.withLock { told.append(time.seconds) } }
}

/// Names as they were told.
// @unchecked: its state is only touched with the lock held.
final class Names: @unchecked Sendable {
    private let lock = NSLock()
    private var told: [String] = []
    var all: Set<String> { lock.withLock { Set(told) } }
    var count: Int { lock.withLock { told.count } }
    func add(_ name: String) { lock.withLock { told.append(name) } }
}
