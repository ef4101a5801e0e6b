internal import Foundation

/// The media behind an asset, shared by all copies, and what a player knows of it, read once through the loader. With
/// the last copy all loading ends.
final class SimulatedMedia: Sendable {
    struct Facts: Sendable {
        var isNative: Bool
        var length: Int64
        var bytesPerSecond: Int
        var information: SimulatedInformation?

        var duration: CMTime { CMTime(value: length, timescale: CMTimeScale(bytesPerSecond)) }
    }

    typealias Handler = @Sendable (Result<Facts, any Error>) -> Void

    private struct State {
        var known: Result<Facts, any Error>?
        var isAsked = false
        var handlers: [Handler] = []
    }

    let loader: AVAssetResourceLoader
    private let state = Guarded(State())

    init(url: URL) { loader = AVAssetResourceLoader(url: url) }

    deinit {
        loader.core.cancelEverything()
        // Requests hold the core, so it has to let them go; what they hold may end with them, after the lock.
        let requests = loader.core.state.withLock { state in
            defer { state.requests = [] }
            return state.requests
        }
        withExtendedLifetime(requests) {}
    }

    /// Probes the resource unless that was done, and says what it is.
    func prepare(_ handler: @escaping Handler) {
        let (known, isFirst) = state.withLock { state in
            if state.known == nil { state.handlers.append(handler) }
            defer { state.isAsked = true }
            return (state.known, !state.isAsked)
        }
        if let known { handler(known) }
        guard isFirst else { return }
        let probe = SimulatedRequest(
            loader, offset: 0, length: 2, keepsBytes: false,
            onEnd: { [weak self] outcome in
                guard let self else { return }
                finish(Result { try judge(outcome) })
            })
        probe.begin()
    }

    private func finish(_ result: Result<Facts, any Error>) {
        let handlers = state.withLock { state in
            state.known = result
            defer { state.handlers = [] }
            return state.handlers
        }
        for handler in handlers { handler(result) }
    }

    private func judge(_ outcome: SimulatedOutcome) throws -> Facts {
        let (behaviour, given) = loader.core.state.withLock { state in
            (state.behaviour, state.cached[loader.url] ?? state.requests.compactMap(\.seen.information).last)
        }
        var facts = Facts(isNative: true, length: behaviour.nativeLength, bytesPerSecond: behaviour.bytesPerSecond)
        switch outcome {
        case .failed(let error): throw error
        case .cancelled: throw NSError.simulatedLoadingCancelled
        case .native, .redirected:
            guard loader.url.isFileURL else { break }
            let size = try FileManager.default.attributesOfItem(atPath: loader.url.path)[.size] as? NSNumber
            facts.length = size?.int64Value ?? 0
        case .finished:
            guard let given else { throw AVError.make(.unknown) }
            // Without a type the extension of the URL decides; without ranges media fails to load.
            let isMedia = given.contentType.map(behaviour.playableTypes.contains) ?? !loader.url.pathExtension.isEmpty
            guard isMedia else { throw AVError.make(.fileFormatNotRecognized) }
            guard given.isByteRangeAccessSupported, given.contentLength > 0 else {
                throw AVError.make(.serverIncorrectlyConfigured)
            }
            (facts.isNative, facts.length, facts.information) = (false, given.contentLength, given)
        }
        return facts
    }
}
