#if canImport(AVFoundation) && !os(watchOS)
    import AVFoundation
    import RepriseCore

    #if canImport(CoreMedia)
        import CoreMedia
    #endif

    extension CachingPlayer {
        /// Looks at the player and the current item, and does what follows. Called after everything that may have changed
        /// something; calling it once more does nothing.
        func refresh() {
            followCurrentItem()
            guard let current = items.first else { return }
            updateProgress(current)
            switch state {
            case .idle, .failed: return
            case .ended:
                // Somebody else plays it again, a view controller for example.
                guard player.rate > 0, !situation(of: current).isAtEnd else { return }
                current.isOver = false
                stall.begin()
            case .loading, .playing, .paused, .stalled: break
            }
            if current.item.status == .failed { return fail(current, PlaybackError(current.item.error)) }
            carryOutPendingSeek()
            if swapForExternalPlayback(current) { return }
            followExternalPlayback()
            decide(situation(of: current), current)
        }

        private func decide(_ now: StallRule.Situation, _ current: QueuedItem) {
            switch stall.decide(now) {
            case .play:
                takeOver(rate: player.rate)
                current.isStallReported = false
                show(.playing)
                if now.isLoadedToEnd || current.item.isPlaybackLikelyToKeepUp { prefetchNext() }
            case .start:
                current.isStallReported = false
                show(stall.hasStarted ? .stalled : .loading)
                player.rate = rate
            case .wait:
                show(stall.hasStarted ? .stalled : .loading)
                if now.loadedAhead > 0 { lookAgain() }
            case .rest: if !isWanted { show(.paused) }
            case .yield:
                isWanted = false
                hasYielded = true
                interruption.pausedByOthers(at: self.now)
                show(.paused)
            case .adopt(let rate):
                interruption.startedByOthers()
                isWanted = true
                hasYielded = false
                takeOver(rate: rate)
                show(now.isPlaying ? .playing : .loading)
            }
        }

        // Nothing happens any more when the system has given up loading, so a wait is looked at again by the clock.
        private func lookAgain() {
            guard !willLookAgain else { return }
            willLookAgain = true
            let patience = stall.patience
            Task { [weak self] in
                do { try await Task.sleep(for: .seconds(patience)) } catch { return }
                self?.willLookAgain = false
                self?.refresh()
            }
        }

        private func show(_ new: PlaybackState) {
            if state != new { state = new }
        }

        func situation(of queued: QueuedItem) -> StallRule.Situation {
            let item = queued.item
            return StallRule.Situation(
                wantedRate: isWanted ? rate : 0, rate: player.rate,
                isPlaying: player.timeControlStatus == .playing,
                isReady: item.status == .readyToPlay && pendingSeek == nil && !queued.isSeeking,
                isStallReported: queued.isStallReported,
                isBufferEmpty: item.isPlaybackBufferEmpty, isBufferFull: item.isPlaybackBufferFull, position: position,
                duration: duration, loaded: loadedRanges, now: self.now)
        }

        // MARK: Items

        /// The system's queue goes on by itself; the list follows it. News of it comes a turn later, so whatever changes the
        /// list does this first.
        func followCurrentItem() {
            guard let old = items.first, player.currentItem !== old.item else { return }
            guard let item = player.currentItem else {
                return runDry()
            }
            guard let index = items.firstIndex(where: { $0.item === item }) else { return }
            let isNextPass = items[index].entry.id == old.entry.id
            for passed in items.prefix(index) where passed.entry.id != items[index].entry.id {
                finish(passed, ending(of: passed))
            }
            settlePendingSeek(false)
            items.removeFirst(index)
            list.move(to: items[0].entry.id)
            stall.begin()
            position = 0
            storedRanges = isNextPass ? storedRanges : []
            enter()
        }

        /// Everything in the player has been played before the news of it came: the main thread was held up for as long. It
        /// goes on with what is next all the same.
        private func runDry() {
            if isLooping {
                if isWanted { return lineUp() }
            } else {
                for passed in items { finish(passed, ending(of: passed)) }
                if let last = items.last { list.move(to: last.entry.id) }
                if isWanted, list.move(by: 1) { return lineUp() }
            }
            isWanted = false
            clear()
            follower?.look()
            state = .ended
        }

        private func ending(of queued: QueuedItem) -> PlaybackEnd.Reason {
            queued.item.status == .failed ? .failed(PlaybackError(queued.item.error)) : .finished
        }

        func handle(_ report: QueuedItem.Report, of queued: QueuedItem) {
            guard queued === items.first else { return }
            switch report {
            case .changed: break
            case .stalled:
                queued.isStallReported = true
                // Rate and report come by different ways. Where the rate came first, and bytes between the two, it
                // looked like somebody's pause.
                if hasYielded, player.rate == 0 {
                    hasYielded = false
                    isWanted = true
                    interruption.wasStall()
                }
            case .playedToEnd: return end(queued)
            case .failedToPlayToEnd(let error): return fail(queued, error)
            }
            refresh()
        }

        private func end(_ queued: QueuedItem) {
            guard !queued.isOver else { return }
            updateProgress(queued)
            if isLooping { queued.isOver = true } else { finish(queued, .finished) }
            if items.count > 1 {
                // Enqueued while it was ending: the system has stopped there already.
                if isStuckAtEnd(queued) { player.advanceToNextItem() }
                return refresh()
            }
            if !isLooping, list.move(by: 1) { return lineUp() }
            if isLooping { return lineUp() }
            isWanted = false
            if let duration { position = duration }
            state = .ended
        }

        func isStuckAtEnd(_ queued: QueuedItem) -> Bool {
            isWanted && player.rate == 0 && player.currentItem === queued.item
        }

        private func fail(_ queued: QueuedItem, _ error: PlaybackError) {
            player.pause()
            settlePendingSeek(false)
            queued.endSeeks()
            finish(queued, .failed(error))
            state = .failed(error)
        }

        /// Tells that the current item is left before its end, unless its end has been told.
        func leave() {
            if let current = items.first { finish(current, .left) }
        }

        private func finish(_ queued: QueuedItem, _ reason: PlaybackEnd.Reason) {
            guard !queued.isOver else { return }
            queued.isOver = true
            hub.send(PlaybackEnd(source: queued.entry.source, reason: reason))
        }

        // MARK: Progress

        private func updateProgress(_ queued: QueuedItem) {
            let item = queued.item
            if pendingSeek == nil, !queued.isSeeking, item.status == .readyToPlay {
                set(\.position, seconds(player.currentTime()) ?? position)
            }
            set(\.duration, seconds(item.duration))
            set(
                \.loadedRanges,
                item.loadedTimeRanges.compactMap { value in
                    let range = value.timeRangeValue
                    guard let start = seconds(range.start), let end = seconds(range.end), start < end else {
                        return nil
                    }
                    return start..<end
                })
            // Where nobody has the resource open any more, what was known stays.
            if let known = queued.asset.routeHolder?.loader?.resource.snapshot() {
                set(\.storedRanges, StoredTimes.ranges(of: known.stored, length: known.length, duration: duration))
            }
        }

        // Observers hear of changes only.
        private func set<Value: Equatable>(_ property: ReferenceWritableKeyPath<CachingPlayer, Value>, _ value: Value) {
            if self[keyPath: property] != value { self[keyPath: property] = value }
        }

        private func seconds(_ time: CMTime) -> Double? {
            time.isNumeric ? time.seconds : nil
        }
    }
#endif
