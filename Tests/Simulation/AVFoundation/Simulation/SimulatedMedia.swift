internal import Foundation

/// What a player knows of the media behind an asset, read once through the loader and shared by all copies.
final class SimulatedMedia: Sendable {
    struct Facts: Sendable {
        var isNative: Bool
        var isPlayable: Bool
        var length: Int64
        var duration: CMTime
        var information: SimulatedInformation?
    }

    typealias Handler = @Sendable (Result<Facts, any Error>) -> Void

    private enum Phase {
        case unknown
        case loading([Handler])
        case known(Result<Facts, any Error>)
    }

    // Both live in what the copies of an asset share, and nowhere else, so they end together.
    unowned let loader: AVAssetResourceLoader
    private let phase = Guarded(Phase.unknown)

    init(loader: AVAssetResourceLoader) { self.loader = loader }

    /// Probes the resource unless that was done, and says what it is.
    func prepare(_ handler: @escaping Handler) {
        var known: Result<Facts, any Error>?
        let isFirst = phase.withLock { phase in
            switch phase {
            case .unknown:
                phase = .loading([handler])
                return true
            case .loading(let handlers):
                phase = .loading(handlers + [handler])
            case .known(let result):
                known = result
            }
            return false
        }
        if let known { handler(known) }
        guard isFirst else { return }
        let core = loader.core
        let url = loader.url
        loader.simulateRequest(
            offset: 0, length: 2, keepsBytes: false,
            onEnd: { [weak self] outcome in
                self?.finish(Self.judge(outcome, core: core, url: url))
            })
    }

    private func finish(_ result: Result<Facts, any Error>) {
        let handlers = phase.withLock { phase in
            guard case .loading(let handlers) = phase else { return [Handler]() }
            phase = .known(result)
            return handlers
        }
        for handler in handlers { handler(result) }
    }

    private static func judge(
        _ outcome: SimulatedOutcome, core: SimulatedLoaderCore, url: URL
    ) -> Result<Facts, any Error> {
        let (behaviour, cached, requests) = core.state.withLock { state in
            (state.behaviour, state.cached[url], state.requests)
        }
        func facts(_ length: Int64, isNative: Bool, _ information: SimulatedInformation?) -> Facts {
            Facts(
                isNative: isNative, isPlayable: length > 0, length: length,
                duration: CMTime(value: length, timescale: CMTimeScale(behaviour.bytesPerSecond)),
                information: information)
        }
        switch outcome {
        case .native, .redirected:
            return Result { facts(url.isFileURL ? try fileSize(url) : behaviour.nativeLength, isNative: true, nil) }
        case .failed(let error): return .failure(error)
        case .cancelled: return .failure(NSError.simulatedLoadingCancelled)
        case .finished:
            guard let information = cached ?? requests.last(where: { $0.record.information != nil })?.record.information
            else { return .failure(AVError.make(.unknown)) }
            // Without a type the extension of the URL decides; without ranges media fails to load.
            let isMedia =
                information.contentType.map { behaviour.playableTypes.contains($0) } ?? !url.pathExtension.isEmpty
            guard isMedia else { return .failure(AVError.make(.fileFormatNotRecognized)) }
            guard information.isByteRangeAccessSupported, information.contentLength > 0 else {
                return .failure(AVError.make(.serverIncorrectlyConfigured))
            }
            return .success(facts(information.contentLength, isNative: false, information))
        }
    }

    private static func fileSize(_ url: URL) throws -> Int64 {
        let attributes = try FileManager.default.attributesOfItem(atPath: url.path)
        return (attributes[.size] as? NSNumber)?.int64Value ?? 0
    }
}
