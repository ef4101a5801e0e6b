#if canImport(AVFoundation) && !os(watchOS)
    import AVFoundation
    public import Foundation
    public import RepriseCore

    extension CachingPlayer {
        /// Adds `url` at the end of the list; remote through the cache, a file as it is. In an empty list it is made ready,
        /// and played by `resume()`.
        public func enqueue(_ url: URL, headers: [String: String] = [:], key: ResourceKey? = nil) {
            enqueue([.url(url, headers: headers, key: key)])
        }

        /// Adds `sources` at the end of the list.
        public func enqueue(_ sources: [PlaybackSource]) {
            followCurrentItem()
            let wasEmpty = list.current == nil
            list.append(sources)
            if wasEmpty, list.current != nil { lineUp() } else { topUp() }
        }

        /// Moves to the next item of the list, also while looping; `false` where there is none.
        @discardableResult
        public func next() -> Bool {
            followCurrentItem()
            guard list.hasNext else { return false }
            if case .ended = state { isWanted = true }
            leave()
            list.move(by: 1)
            guard items.count > 1, items[1].entry.id == list.current?.id else {
                lineUp()
                return true
            }
            player.advanceToNextItem()
            refresh()
            return true
        }

        /// Moves to the item before, from the list's memory; at the first one, to its start. `false` in an empty list.
        @discardableResult
        public func previous() -> Bool {
            followCurrentItem()
            guard list.current != nil else { return false }
            if case .ended = state { isWanted = true }
            leave()
            list.move(by: -1)
            lineUp()
            return true
        }

        /// Makes an asset for a source; of its origin's URL while a receiver fetches it itself.
        private func asset(for entry: PlayQueue.Entry) -> AVURLAsset? {
            if let asset = assets[entry.id] { return asset }
            guard let url = entry.source.url else { return nil }
            var asset = cache.asset(for: url, headers: entry.source.headers, key: entry.source.key)
            if usesOrigin { asset = asset.originAsset }
            assets[entry.id] = asset
            return asset
        }

        private func enqueueItem(of entry: PlayQueue.Entry) -> Bool {
            guard let asset = asset(for: entry) else { return false }
            let queued = QueuedItem(entry, asset) { [weak self] queued, report in self?.handle(report, of: queued) }
            items.append(queued)
            player.insert(queued.item, after: nil)
            return true
        }

        /// Takes all items out of the player.
        func clear() {
            settlePendingSeek(false)
            items = []
            player.removeAllItems()
            position = 0
            duration = nil
            loadedRanges = []
            storedRanges = []
        }

        /// Puts the current entry into the player, at `seconds`, and what comes after it. Items are always new ones: one
        /// that has been played, or has failed, remembers that. Assets stay, unless they are to be made `anew`.
        func lineUp(at seconds: Double = 0, anew: Bool = false) {
            guard let entry = list.current else { return }
            let usedOrigin = usesOrigin
            usesOrigin = wantsOrigin
            clear()
            if anew || usesOrigin != usedOrigin { assets = [:] }
            stall.begin()
            guard enqueueItem(of: entry) else {
                let error = PlaybackError(.missingResource, "the bundle has no resource named \(entry.source.name)")
                state = .failed(error)
                hub.send(PlaybackEnd(source: entry.source, reason: .failed(error)))
                follower?.look()
                return
            }
            position = seconds
            if seconds > 0 { pendingSeek = PendingSeek(seconds: seconds, tolerance: 0) }
            enter()
            // With a place to go to first, it starts from there.
            if isWanted, stall.bufferBeforeStarting == 0, pendingSeek == nil { player.rate = rate }
            refresh()
        }

        /// What follows from there being another current item.
        func enter() {
            guard let current = items.first else { return }
            state = isWanted ? .loading : .paused
            let isCached =
                if case .direct? = current.asset.cacheRoute { false } else { current.asset.cacheRoute != nil }
            player.allowsExternalPlayback = configuration.externalPlayback == .swapToOrigin || !isCached
            topUp()
            let ahead = configuration.itemsAhead
            assets = assets.filter { id, _ in list.isNear(id, ahead: ahead) }
            prefetches = prefetches.filter { id, _ in list.isNear(id, ahead: ahead + 1) }
            follower?.look()
        }

        /// Whether a receiver fetches media itself, and is to.
        var wantsOrigin: Bool {
            configuration.externalPlayback == .swapToOrigin && player.isExternalPlaybackActive
        }

        /// Has what follows go through the cache, or past it, as is wanted now.
        func followExternalPlayback() {
            guard wantsOrigin != usesOrigin, let current = items.first else { return }
            usesOrigin = wantsOrigin
            assets = assets.filter { $0.key == current.entry.id }
            takeOut(after: 1)
            topUp()
        }

        /// Takes items out of the player, all but the first `count`.
        private func takeOut(after count: Int) {
            for queued in items.dropFirst(count) { player.remove(queued.item) }
            items = Array(items.prefix(count))
        }

        /// Makes the player's queue after the current item what it should be.
        func topUp() {
            guard let current = items.first else { return }
            let wanted = list.ahead(configuration.itemsAhead, isLooping: isLooping)
            let agreeing = zip(items.dropFirst(), wanted).prefix { $0.entry.id == $1.id }.count
            takeOut(after: 1 + agreeing)
            // One that a bundle does not have is met when it is its turn.
            for entry in wanted.dropFirst(agreeing) { guard enqueueItem(of: entry) else { break } }
            // The last item stays when it has ended, so that it can be sought in and its last picture is seen.
            player.actionAtItemEnd = items.count > 1 ? .advance : .pause
            if items.count > 1, current.isOver, isStuckAtEnd(current) { player.advanceToNextItem() }
        }

        /// Brings the beginning of the next item into the cache, once the current one does not need the network for itself.
        func prefetchNext() {
            let bytes = configuration.prefetchBytes
            guard bytes > 0, !isLooping, let next = list.ahead(1, isLooping: false).first, prefetches[next.id] == nil,
                let resource = asset(for: next)?.routeHolder?.loader?.resource
            else { return }
            prefetches[next.id] = HeadPrefetch(resource, bytes: bytes)
        }
    }
#endif
