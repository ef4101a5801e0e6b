#if canImport(AVFoundation) && !os(watchOS)
    import AVFoundation
    import Dispatch
    import Foundation
    import RepriseCore
    import RepriseHTTP
    import ReprisePlatform
    import RepriseRanges
    import RepriseStorage

    #if canImport(FoundationNetworking)
        import FoundationNetworking
    #endif

    /// Answers the loading requests of one asset, and of its copies, from the cache.
    ///
    ///     shouldWait… --async--> [ queue: table of requests, LoadingPlan ] --step--> ReaderHandle
    ///                                  ^                                                |
    ///                                  +---- bytes in memory, or read by the pool <-----+
    ///
    /// Everything happens on the asset's own serial queue, which is the delegate queue too; callbacks only leave a note
    /// there and return, since the system holds all further requests of the asset up until they do. No file is read on it.
    // @unchecked: all state is confined to `queue`.
    final class AssetLoader: NSObject, AVAssetResourceLoaderDelegate, @unchecked Sendable {
        /// What the app asked for.
        let url: URL
        let resource: MediaResource
        let queue: DispatchQueue
        private let clock: any WorkQueues
        private let router: (any StreamRouter)?
        private let headers: [String: String]
        private var plan = LoadingPlan()
        /// By identity: all requests of an asset have one URL.
        private var tasks: [ObjectIdentifier: LoadingTask] = [:]
        private(set) var isPaused = false
        private var isWatching = false
        /// What the player was told the asset is. It holds that for the asset's life: another version's bytes, by this one's
        /// length and index, would be noise.
        private var described: ContentInfo?

        init(
            resource: MediaResource, url: URL, headers: [String: String], clock: any WorkQueues,
            router: (any StreamRouter)?
        ) {
            self.resource = resource
            self.url = url
            self.headers = headers
            self.clock = clock
            self.router = router
            queue = DispatchQueue(label: "reprise.asset", qos: .userInitiated)
        }

        // MARK: What the system calls, on `queue`

        func resourceLoader(
            _ resourceLoader: AVAssetResourceLoader,
            shouldWaitForLoadingOfRequestedResource loadingRequest: AVAssetResourceLoadingRequest
        ) -> Bool {
            accept(loadingRequest)
        }

        func resourceLoader(
            _ resourceLoader: AVAssetResourceLoader,
            shouldWaitForRenewalOfRequestedResource renewalRequest: AVAssetResourceRenewalRequest
        ) -> Bool {
            accept(renewalRequest)
        }

        func resourceLoader(
            _ resourceLoader: AVAssetResourceLoader, didCancel loadingRequest: AVAssetResourceLoadingRequest
        ) {
            queue.async { self.drop(loadingRequest) }
        }

        private func accept(_ request: AVAssetResourceLoadingRequest) -> Bool {
            // A scheme that the system loads itself may reach a delegate on some versions; it is not ours.
            guard request.request.url?.scheme?.beginsLike(AssetAddress.prefix) == true else { return false }
            queue.async { self.begin(request) }
            return true
        }

        // MARK: For the player's side

        /// While an asset is paused its readers ask for nothing. A new request of the system's ends the pause.
        func setPaused(_ isPaused: Bool) {
            queue.async {
                guard self.isPaused != isPaused else { return }
                self.isPaused = isPaused
                for task in self.tasks.values { task.handle.setPaused(isPaused || self.plan.isHeld(task.id)) }
                if !isPaused { for task in self.ordered { self.pump(task) } }
            }
        }

        private var ordered: [LoadingTask] { tasks.values.sorted { $0.id < $1.id } }

        // MARK: Requests come and go

        private func begin(_ request: AVAssetResourceLoadingRequest) {
            let wanted = request.dataRequest.map(LoadingTask.range) ?? LoadingPlan.Request(offset: 0, end: 2)
            let held = ordered.filter { plan.isHeld($0.id) }
            let id = plan.add(wanted)
            let task = LoadingTask(
                id: id, request: request, handle: resource.makeHandle(in: readerRange(of: wanted, request)))
            tasks[ObjectIdentifier(request)] = task
            if isPaused { setPaused(false) }
            holdBack()
            goOn(held)
            pump(task)
            watch()
        }

        // The system's first look is two bytes, and the whole is asked for a moment later: what is fetched for the look is
        // the first request's worth of that, so that the look costs no request of its own.
        private func readerRange(of wanted: LoadingPlan.Request, _ request: AVAssetResourceLoadingRequest) -> ByteRange
        {
            let isLook = request.contentInformationRequest != nil
            return ByteRange(
                wanted.offset, wanted.end.map { isLook ? max($0, wanted.offset + 256 * 1024) : $0 } ?? .max)
        }

        private func drop(_ request: AVAssetResourceLoadingRequest) {
            guard let task = tasks[ObjectIdentifier(request)] else { return }
            close(task)
        }

        private func close(_ task: LoadingTask) {
            guard task.stage != .done else { return }
            task.stage = .done
            task.handle.leave()
            tasks[ObjectIdentifier(task.request)] = nil
            let released = plan.remove(task.id)
            goOn(ordered.filter { released.contains($0.id) })
        }

        /// Goes on with those of some that were held and are not any more.
        private func goOn(_ held: [LoadingTask]) {
            for task in held where !plan.isHeld(task.id) {
                task.handle.setPaused(isPaused)
                pump(task)
            }
        }

        // Requests that are held do not make the engine read ahead for them.
        private func holdBack() {
            for task in tasks.values where plan.isHeld(task.id) { task.handle.setPaused(true) }
        }

        // What the system ends without a word (`cancelLoading`, an older system's missing cancel) is looked for while
        // requests are open.
        private func watch() {
            guard !isWatching, !tasks.isEmpty else { return }
            isWatching = true
            clock.after(Self.watchInterval) { [weak self] in
                guard let self else { return }
                self.queue.async {
                    self.isWatching = false
                    for task in self.ordered where task.isEndedBySystem { self.close(task) }
                    self.watch()
                }
            }
        }

        private static let watchInterval: Int64 = 250_000_000

        // MARK: Answering

        private func pump(_ task: LoadingTask) {
            while advance(task) {}
        }

        /// One step; `false` where there is nothing to do until something calls.
        private func advance(_ task: LoadingTask) -> Bool {
            guard task.stage != .done, !task.isWaiting else { return false }
            if task.isEndedBySystem {
                close(task)
                return false
            }
            if isPaused { return false }
            switch task.stage {
            case .describing: return describe(task)
            case .comparing: return compare(task)
            case .feeding, .done: break
            }
            let remaining = task.remaining ?? .max
            guard remaining > 0 else {
                finish(task, nil)
                return false
            }
            switch plan.allowance(task.id, now: clock.now()) {
            case .held:
                task.handle.setPaused(true)
                return false
            case .after(let nanoseconds):
                let turn = beginWait(task)
                clock.after(nanoseconds) { [weak self] in self?.resume(task, turn) }
                return false
            case .bytes(let limit):
                return feed(task, limit: Int(min(Int64(limit), remaining)))
            }
        }

        private func feed(_ task: LoadingTask, limit: Int) -> Bool {
            if let head = task.head {
                task.head = nil
                give(task, head.bytes.prefix(limit), at: head.offset)
                // The reader is at the end of what was read; a piece of it that did not fit is read again.
                if head.bytes.count > limit { task.handle.seek(to: task.position) }
                return true
            }
            return step(task, limit: limit) { loader, bytes, offset in loader.give(task, bytes, at: offset) }
        }

        private func give(_ task: LoadingTask, _ bytes: ArraySlice<UInt8>, at offset: Int64) {
            guard task.stage != .done else { return }
            guard !task.isEndedBySystem, let data = task.request.dataRequest else { return close(task) }
            // The system's count is the only truth: where it differs, what was read is not what is wanted.
            guard offset == data.currentOffset else { return task.handle.seek(to: data.currentOffset) }
            data.respond(with: Data(bytes))
            plan.gave(task.id, bytes.count, now: clock.now())
        }

        /// Takes the next bytes of a reader to `then`, at once or later; `false` where it is later.
        private func step(
            _ task: LoadingTask, limit: Int, _ then: @escaping @Sendable (AssetLoader, ArraySlice<UInt8>, Int64) -> Void
        ) -> Bool {
            let turn = beginWait(task)
            switch task.handle.step(limit: limit, wake: { [weak self] in self?.resume(task, turn) }) {
            case .pending: return false
            case .memory(let bytes, let offset):
                endWait(task)
                then(self, bytes, offset)
                return true
            case .lease(let lease):
                task.handle.read(lease) { [weak self] bytes in
                    guard let self else { return }
                    self.queue.async {
                        guard task.turn == turn, task.stage != .done else { return }
                        self.endWait(task)
                        if let bytes { then(self, bytes[...], lease.range.lowerBound) }
                        self.pump(task)
                    }
                }
                return false
            case .end: finish(task, nil)
            case .failed(let error): finish(task, error)
            }
            return false
        }

        private func beginWait(_ task: LoadingTask) -> Int {
            task.isWaiting = true
            task.turn += 1
            return task.turn
        }

        private func endWait(_ task: LoadingTask) {
            task.isWaiting = false
            task.turn += 1
        }

        private func resume(_ task: LoadingTask, _ turn: Int) {
            queue.async {
                guard task.turn == turn else { return }
                self.endWait(task)
                self.pump(task)
            }
        }

        private func finish(_ task: LoadingTask, _ error: CacheError?) {
            guard task.stage != .done else { return }
            let isDescribed = task.stage == .feeding
            close(task)
            guard !task.isEndedBySystem else { return }
            if let error {
                // A look that failed without any type leaves the player waiting for one; an empty one ends that.
                if !isDescribed, let content = task.request.contentInformationRequest,
                    content.allowedContentTypes == nil
                {
                    content.contentType = ""
                }
                task.request.finishLoading(with: LoadingError.make(error))
            } else {
                task.request.finishLoading()
            }
        }

        // MARK: Describing the content

        private func describe(_ task: LoadingTask) -> Bool {
            guard let info = info(task) else { return false }
            guard task.head == nil, task.position == 0, info.length != 0 else {
                describe(task, as: info)
                return true
            }
            // The first bytes tell what a careless server's type does not.
            return step(task, limit: 4096) { loader, bytes, offset in
                task.head = (offset, bytes)
                loader.describe(task, as: info)
            }
        }

        /// What is known of the content; `nil` where that is not known yet, or the request has ended with the reason.
        private func info(_ task: LoadingTask) -> ContentInfo? {
            let turn = beginWait(task)
            switch task.handle.info(wake: { [weak self] in self?.resume(task, turn) }) {
            case .success(nil): return nil
            case .failure(let error):
                endWait(task)
                finish(task, error)
                return nil
            case .success(let info?):
                endWait(task)
                return info
            }
        }

        private func describe(_ task: LoadingTask, as info: ContentInfo) {
            guard task.stage == .describing, let content = task.request.contentInformationRequest else { return }
            if isAnother(info) { return finish(task, Self.changed) }
            let signature = task.head.map { ContainerSignature.of($0.bytes) } ?? .unknown
            let type = MediaType(info.contentType)
            if type?.isManifest == true || signature == .manifest { return redirect(task) }
            let isMarkup = type?.isMarkup == true && type?.essence != "text/plain"
            if signature == .markup || (signature == .unknown && isMarkup) {
                // A login or an error page that came with status 200: a player would only say that it cannot read it.
                return finish(
                    task,
                    CacheError(
                        .originInvalid, "the origin sent a page (\(info.contentType ?? "no type")) instead of media"))
            }
            guard
                let answer = ContentAnswer(
                    info, pathExtension: url.pathExtension, signature: signature, allowed: content.allowedContentTypes)
            else { return redirect(task) }
            content.contentType = answer.contentType
            content.contentLength = answer.length
            content.isByteRangeAccessSupported = true
            content.isEntireLengthAvailableOnDemand = answer.isEntireLengthAvailableOnDemand
            task.stage = .feeding
            described = described ?? info
        }

        /// Has the reader keep to one version, and sees whether it is the one that was described.
        private func compare(_ task: LoadingTask) -> Bool {
            guard let info = info(task) else { return false }
            if isAnother(info) {
                finish(task, Self.changed)
                return false
            }
            task.stage = .feeding
            return true
        }

        private func isAnother(_ info: ContentInfo) -> Bool { described.map { info.isAnother(than: $0) } ?? false }

        private static let changed = CacheError(
            .changed, "the origin has another version than the one this asset was opened with; make a new asset")

        // A stream, or a length nobody knows: not for a resource loader. The player is sent to where it can be had.
        private func redirect(_ task: LoadingTask) {
            let target = router?.route(for: url, headers: headers) ?? url
            var request = URLRequest(url: target)
            if target == url { for (name, value) in headers { request.setValue(value, forHTTPHeaderField: name) } }
            close(task)
            guard !task.isEndedBySystem else { return }
            task.request.redirect = request
            task.request.response = HTTPURLResponse(
                url: url, statusCode: 302, httpVersion: "HTTP/1.1", headerFields: ["Location": target.absoluteString])
            task.request.finishLoading()
        }
    }
#endif
