import AVFoundation
import Foundation
import Reprise
import RepriseProxy

extension Traces {
    /// AVPlayer's own HTTP through the local server. Needs `NSAllowsLocalNetworking`.
    static let proxied = Check(id: "R19", title: "AVPlayer through the local server") { stage in
        let url = stage.put(.tone(seconds: 60), "/r19.wav")
        guard let origin = OriginURL(url.absoluteString) else { return .fail("no URL") }
        let proxy = try await MediaProxy.start(cache: stage.cache)
        guard let address = URL(string: proxy.address(for: origin)) else { return .fail("no address") }
        let playback = Playback(AVURLAsset(url: address))
        try await playback.play(to: 2)
        try await playback.seek(to: 40)
        try await playback.play(to: 42)
        await proxy.stop()
        return .pass(try stage.requireEconomy("/r19.wav", seeks: 2))
    }
}
