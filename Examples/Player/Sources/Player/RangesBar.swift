import Reprise
import SwiftUI

/// What is stored, what is loaded, and where playback is.
struct RangesBar: View {
    let player: CachingPlayer

    var body: some View {
        GeometryReader { space in
            ZStack(alignment: .leading) {
                Capsule().fill(.quaternary)
                ForEach(fractions(player.storedRanges), id: \.self) { range in
                    bar(range, .green.opacity(0.6), width: space.size.width)
                }
                ForEach(fractions(player.loadedRanges), id: \.self) { range in
                    bar(range, .blue.opacity(0.5), width: space.size.width)
                }
                Rectangle().fill(.primary).frame(width: 2).offset(x: space.size.width * place)
            }
        }
        .frame(height: 10)
        .accessibilityLabel("stored and loaded parts")
    }

    private var place: Double { player.duration.map { $0 > 0 ? player.position / $0 : 0 } ?? 0 }

    private func fractions(_ ranges: [Range<Double>]) -> [Range<Double>] {
        guard let length = player.duration, length > 0 else { return [] }
        return ranges.map { $0.lowerBound / length..<$0.upperBound / length }
    }

    private func bar(_ range: Range<Double>, _ colour: Color, width: Double) -> some View {
        Capsule().fill(colour)
            .frame(width: max(1, width * (range.upperBound - range.lowerBound)))
            .offset(x: width * range.lowerBound)
    }
}
