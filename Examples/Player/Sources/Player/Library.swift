import Foundation

/// Something to play.
struct Piece: Identifiable, Hashable, Sendable {
    let title: String
    let url: URL
    var id: URL { url }

    /// A piece from what somebody typed; `nil` for anything but a URL with a host.
    init?(_ text: String) {
        guard let url = URL(string: text.trimmingCharacters(in: .whitespaces)), url.host() != nil else { return nil }
        self.init(title: url.lastPathComponent, url: url)
    }

    init(title: String, url: URL) {
        self.title = title
        self.url = url
    }

    /// Where to begin. `reprise serve --sample` prints more, for the Simulator.
    static let samples: [Piece] = [
        Piece("https://download.blender.org/peach/bigbuckbunny_movies/BigBuckBunny_320x180.mp4")
    ].compactMap(\.self)
}
