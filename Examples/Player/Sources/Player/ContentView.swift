import AVKit
import SwiftUI

struct ContentView: View {
    let shelf: Shelf
    @State private var typed = ""

    var body: some View {
        VStack(spacing: 12) {
            VideoPlayer(player: shelf.player.player)
                .aspectRatio(16 / 9, contentMode: .fit)
            TimelineView(.periodic(from: .now, by: 0.5)) { _ in
                VStack(alignment: .leading, spacing: 4) {
                    RangesBar(player: shelf.player)
                    Text(shelf.cost).font(.caption).foregroundStyle(.secondary)
                }
            }
            HStack {
                Button("Play") { shelf.player.resume() }
                Button("Pause") { shelf.player.pause() }
            }
            if case .failed(let error) = shelf.player.state {
                Text(error.message).foregroundStyle(.red)
            }
            List {
                ForEach(shelf.pieces) { piece in
                    Button(piece.title) { shelf.play(piece) }
                        .bold(piece == shelf.current)
                }
                TextField("https://…", text: $typed)
                    .onSubmit {
                        shelf.add(typed)
                        typed = ""
                    }
            }
        }
        .padding()
    }
}
