import AVFoundation
import Foundation
import Reprise

extension Traces {
    /// Patterns that AVPlayer itself produces here.
    static let played: [Check] = [
        Check(id: "R0", title: "the probe") { stage in
            let url = stage.put(.tone(seconds: 60), "/r0.wav")
            let asset = stage.cache.asset(for: url)
            try require(asset.cacheRoute == .loader(url), "the route is \(asset.cacheRoute as Any)")
            let playback = Playback(asset)
            try await playback.waitUntilReady()
            return .pass("ready, " + (try stage.requireEconomy("/r0.wav")))
        },
        Check(id: "R1", title: "the start of a song, and its second play without the network") { stage in
            let url = stage.put(.tone(seconds: 8), "/r1.wav")
            try await Playback(stage.cache.asset(for: url)).play(to: 7)
            let note = try stage.requireEconomy("/r1.wav")
            try await stage.read(ByteRange(0, .max), of: .tone(seconds: 8), at: url)
            let requests = stage.origin.account("/r1.wav").requests
            try await Playback(stage.cache.asset(for: url)).play(to: 3)
            let more = stage.origin.account("/r1.wav").requests - requests
            try require(more == 0, "\(more) requests on the second play")
            return .pass(note)
        },
        Check(id: "R2", title: "pause, go on, seek") { stage in
            let playback = Playback(stage.cache.asset(for: stage.put(.tone(seconds: 600), "/r2.wav")))
            try await playback.play(to: 2)
            playback.player.pause()
            try await playback.play(to: 3)
            try await playback.seek(to: 300)
            try await playback.play(to: 302)
            try await playback.seek(to: 100)
            try await playback.play(to: 102)
            return .pass(try stage.requireEconomy("/r2.wav", seeks: 4))
        },
        Check(id: "R10", title: "a queue asks for the next item ahead") { stage in
            let first = stage.cache.asset(for: stage.put(.tone(seconds: 5), "/r10a.wav"))
            let second = stage.cache.asset(for: stage.put(.tone(seconds: 60), "/r10b.wav"))
            let player = AVQueuePlayer(items: [AVPlayerItem(asset: first), AVPlayerItem(asset: second)])
            player.automaticallyWaitsToMinimizeStalling = false
            player.play()
            try await wait(for: "the second item's first request") {
                stage.origin.account("/r10b.wav").requests > 0
            }
            player.advanceToNextItem()
            first.pauseCaching()
            let queued = Playback(player)
            try await queued.play(to: 2)
            return .pass(try stage.requireEconomy("/r10b.wav", seeks: 1))
        },
        Check(id: "R11", title: "twenty seeks, each before the last is done") { stage in
            let playback = Playback(stage.cache.asset(for: stage.put(.tone(seconds: 600), "/r11.wav")))
            try await playback.waitUntilReady()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 1...20 {
                    group.addTask { _ = await playback.player.seek(to: time(Double(number * 137 % 600))) }
                }
                try await group.waitForAll()
            }
            try await playback.seek(to: 450)
            try await playback.play(to: 452)
            return .pass(try stage.requireEconomy("/r11.wav", seeks: 40))
        },
        Check(id: "R12", title: "cancelLoading, then a new asset") { stage in
            let url = stage.put(.tone(seconds: 600), "/r12.wav")
            let asset = stage.cache.asset(for: url)
            let playback = Playback(asset)
            try await playback.play(to: 1)
            asset.cancelLoading()
            try await Task.sleep(for: .seconds(2))
            let sent = stage.origin.account("/r12.wav").sent
            try await Task.sleep(for: .seconds(3))
            let late = stage.origin.account("/r12.wav").sent - sent
            try require(late == 0, "\(late) bytes were sent two seconds after the cancel")
            try await Playback(stage.cache.asset(for: url)).play(to: 1)
            return .pass("silent after the cancel; a new asset plays")
        },
        Check(id: "R13", title: "nobody but the item holds the asset") { stage in
            let url = stage.put(.tone(seconds: 600), "/r13.wav")
            let playback = Playback(stage.cache.asset(for: url))
            try await playback.play(to: 1)
            try await playback.seek(to: 500)
            try await playback.play(to: 502)
            return .pass(try stage.requireEconomy("/r13.wav", seeks: 2))
        },
        Check(id: "R14", title: "a playlist plays direct") { stage in
            guard let url = URL(string: "https://check.invalid/r14/master.m3u8") else { return .fail("no URL") }
            let route = stage.cache.asset(for: url).cacheRoute
            try require(route == .direct(url, .stream), "the route is \(route as Any)")
            return .pass("not sent through the loader")
        },
        Check(id: "R15", title: "a looper costs its clip once") { stage in
            let asset = stage.cache.asset(for: stage.put(.tone(seconds: 5), "/r15.wav"))
            let note = try await loop(asset, seconds: 16)
            let account = stage.origin.account("/r15.wav")
            try require(account.sent <= 441_044 * 21 / 20, "\(account.sent) bytes for a clip of 441,044")
            return .pass(note + ", \(account.sent) bytes")
        },
        Check(id: "R17", title: "the origin breaks off, and playback goes on", deadline: 90) { stage in
            let url = stage.put(.tone(seconds: 60), "/r17.wav")
            stage.origin.breakOnce("/r17.wav", after: 200_000)
            try await Playback(stage.cache.asset(for: url)).play(to: 10)
            return .pass(try stage.requireEconomy("/r17.wav", seeks: 1))
        },
    ]

    @MainActor
    private static func loop(_ asset: AVURLAsset, seconds: Double) async throws -> String {
        let player = AVQueuePlayer()
        player.automaticallyWaitsToMinimizeStalling = false
        let looper = AVPlayerLooper(player: player, templateItem: AVPlayerItem(asset: asset))
        player.play()
        try await Task.sleep(for: .seconds(seconds))
        let loops = looper.loopCount
        looper.disableLooping()
        player.pause()
        try require(loops >= 2, "\(loops) loops in \(Int(seconds)) seconds")
        return "\(loops) loops"
    }
}

func time(_ seconds: Double) -> CMTime { CMTime(seconds: seconds, preferredTimescale: 600) }

/// A player and what is waited for.
struct Playback: Sendable {
    let player: AVPlayer

    init(_ asset: AVURLAsset) {
        player = AVPlayer(playerItem: AVPlayerItem(asset: asset))
        player.automaticallyWaitsToMinimizeStalling = false
    }

    init(_ player: AVPlayer) { self.player = player }

    func waitUntilReady() async throws {
        try await wait(for: "being ready to play") {
            player.currentItem?.status == .readyToPlay || player.currentItem?.status == .failed
        }
        try require(player.currentItem?.status == .readyToPlay, "failed: \(player.currentItem?.error as Any)")
    }

    /// Plays until the position is `seconds`; one that ran dry is started again.
    func play(to seconds: Double) async throws {
        try await waitUntilReady()
        try await wait(for: "playing to second \(seconds)", seconds: 40) {
            if player.rate == 0 { player.play() }
            return player.currentTime().seconds >= seconds
        }
        player.pause()
    }

    func seek(to seconds: Double) async throws {
        try require(await player.seek(to: time(seconds)), "the seek to \(seconds) was not finished")
    }
}
