import Foundation
import Observation
import Reprise

/// What the views show: the pieces, the player, and what is stored.
@MainActor
@Observable
final class Shelf {
    private(set) var pieces = Piece.samples
    private(set) var current: Piece?
    let player: CachingPlayer
    private let cache: MediaCache

    init(cache: MediaCache = .shared) {
        self.cache = cache
        player = CachingPlayer(cache: cache)
    }

    func add(_ text: String) {
        guard let piece = Piece(text), !pieces.contains(piece) else { return }
        pieces.append(piece)
    }

    func play(_ piece: Piece) {
        current = piece
        player.play(piece.url)
    }

    /// What the session has cost so far.
    var cost: String {
        let sums = cache.statistics
        return "\(sums.served >> 10) KiB played, \(sums.fromOrigin >> 10) KiB from the network"
    }
}
