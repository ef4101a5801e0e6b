#if canImport(AVFoundation) && !os(watchOS)
    import AVFoundation
    public import Foundation
    public import RepriseCore

    extension CachingPlayer {
        /// Plays `url` in place of everything: remote through the cache, a file as it is.
        /// - Parameters:
        ///   - headers: Fields the origin needs, for example `Authorization`.
        ///   - key: What names it in the cache, instead of what the key policy makes of the URL.
        public func play(_ url: URL, headers: [String: String] = [:], key: ResourceKey? = nil) {
            play([.url(url, headers: headers, key: key)])
        }

        /// Plays a resource of a bundle in place of everything.
        public func playResource(
            _ name: String, withExtension fileExtension: String? = nil, in bundle: Bundle = .main
        ) {
            play([.resource(name, withExtension: fileExtension, in: bundle)])
        }

        /// Plays a list in place of everything, from the one at `index` on. An empty list stops.
        public func play(_ sources: [PlaybackSource], startingAt index: Int = 0) {
            guard !sources.isEmpty else { return stop() }
            followCurrentItem()
            leave()
            list.replace(with: sources, startingAt: index)
            want()
            lineUp()
        }

        /// Pauses; what is loading goes on loading.
        public func pause() {
            interruption.decidedByApp()
            isWanted = false
            hasYielded = false
            player.pause()
            refresh()
        }

        /// Plays on. After the end it plays what has been added since, or the last item again; after a failure it tries the
        /// item anew from where it was.
        public func resume() {
            followCurrentItem()
            guard list.current != nil else { return }
            want()
            switch state {
            case .ended:
                if list.move(by: 1) { return lineUp() }
                lineUp()
            case .failed: lineUp(at: position, anew: true)
            case .idle, .loading, .playing, .paused, .stalled:
                stall.insist()
                player.rate = rate
                refresh()
            }
        }

        /// Ends everything and forgets the list. What the cache holds stays.
        public func stop() {
            followCurrentItem()
            leave()
            interruption.decidedByApp()
            isWanted = false
            hasYielded = false
            list.replace(with: [])
            clear()
            assets = [:]
            prefetches = [:]
            follower?.look()
            state = .idle
            if configuration.audioSession == .playback {
                AudioSession.deactivate { [weak self] error in self?.audioSessionError = error }
            }
        }

        /// Moves to `seconds` from the start of the current item, or as near as `tolerance` allows: the more, the faster.
        /// Waits until the player is there. Where the item cannot be moved yet, it is as soon as it can.
        /// An item that has failed is not moved: `resume()` begins there.
        /// - Returns: `false` where there is nothing to move, another seek or another item came first, or the task was cancelled.
        @discardableResult
        public func seek(to seconds: Double, tolerance: Double = 0) async -> Bool {
            followCurrentItem()
            guard let current = items.first, seconds.isFinite else { return false }
            let target = max(0, min(seconds, duration ?? .infinity))
            settlePendingSeek(false)
            if current.item.status == .failed {
                position = target
                return false
            }
            current.isOver = false
            current.isStallReported = false
            if case .ended = state { state = .paused }
            stall.begin()
            position = target
            guard current.item.status == .readyToPlay else {
                // Nothing of the place it is at now is to be heard.
                player.pause()
                return await waitForItem(PendingSeek(seconds: target, tolerance: tolerance))
            }
            return await move(current, to: target, tolerance: tolerance)
        }

        private func waitForItem(_ seek: PendingSeek) async -> Bool {
            await withTaskCancellationHandler {
                await withCheckedContinuation { continuation in
                    var seek = seek
                    seek.continuation = continuation
                    pendingSeek = seek
                }
            } onCancel: {
                Task { @MainActor [weak self] in
                    if self?.pendingSeek?.id == seek.id { self?.settlePendingSeek(false) }
                }
            }
        }

        private func move(_ queued: QueuedItem, to seconds: Double, tolerance: Double) async -> Bool {
            let isThere = await withCheckedContinuation { continuation in
                queued.seek(to: seconds, tolerance: tolerance) { continuation.resume(returning: $0) }
            }
            refresh()
            return isThere
        }

        /// Carries out a seek that had to wait for the item.
        func carryOutPendingSeek() {
            guard let seek = pendingSeek, let current = items.first, current.item.status == .readyToPlay else { return }
            pendingSeek = nil
            current.seek(to: seek.seconds, tolerance: seek.tolerance) { [weak self] isThere in
                self?.refresh()
                seek.continuation?.resume(returning: isThere)
            }
        }

        /// Answers a seek that will not be carried out.
        func settlePendingSeek(_ isThere: Bool) {
            let seek = pendingSeek
            pendingSeek = nil
            seek?.continuation?.resume(returning: isThere)
        }

        /// Notes that the app wants it to play.
        private func want() {
            interruption.decidedByApp()
            isWanted = true
            hasYielded = false
            if configuration.audioSession == .playback {
                AudioSession.activate { [weak self] error in self?.audioSessionError = error }
            }
        }
    }
#endif
