#if canImport(AVFoundation) && !os(watchOS)
    import AVFoundation

    extension CachingPlayer {
        /// Does what follows from something that happened to the audio session.
        func handle(_ event: InterruptionRule.Event) {
            switch interruption.decide(event, isWanted: isWanted, now: now) {
            case .nothing: break
            case .pause:
                isWanted = false
                hasYielded = false
                player.pause()
                refresh()
            case .resume: resume()
            case .rebuild(let resumes): rebuild(resumes: resumes)
            }
        }

        /// Makes the player and everything in it anew, at the same place: the old ones are dead.
        private func rebuild(resumes: Bool) {
            let place = position
            let old = player
            settlePendingSeek(false)
            items = []
            assets = [:]
            prefetches = [:]
            old.removeAllItems()
            player = AVQueuePlayer()
            attach()
            switch state {
            case .idle: return
            case .ended:
                isWanted = false
                return lineUp(anew: true)
            case .failed, .loading, .playing, .paused, .stalled: break
            }
            isWanted = resumes
            if resumes, configuration.audioSession == .playback {
                AudioSession.activate { [weak self] error in self?.audioSessionError = error }
            }
            lineUp(at: place, anew: true)
        }

        /// Puts the origin's URL in the place of a cached item once a receiver fetches it itself. `true` where it did.
        func swapForExternalPlayback(_ current: QueuedItem) -> Bool {
            guard wantsOrigin else { return false }
            switch current.asset.cacheRoute {
            case .loader?, .proxy?: break
            case .direct?, nil: return false
            }
            lineUp(at: position, anew: true)
            return true
        }
    }
#endif
