import Foundation

/// Broken chords over a slow bass, computed sample by sample: 16 bits, one channel, 22,050 Hz.
struct SynthesisedMusic {
    static let sampleRate = 22_050
    let seconds: Int
    /// Semitones by which all is raised.
    let transposition: Int

    /// Roots of the chords in semitones from A2, and whether each is minor.
    private static let chords: [(root: Int, isMinor: Bool)] = [
        (3, false), (0, true), (8, false), (10, false), (3, false), (5, true), (8, false), (7, false),
    ]

    /// The piece as a WAV file.
    func wave() -> [UInt8] {
        let count = seconds * SynthesisedMusic.sampleRate
        var bytes: [UInt8] = []
        bytes.reserveCapacity(44 + count * 2)
        func text(_ text: String) { bytes += Array(text.utf8) }
        func number(_ value: Int, _ size: Int) {
            for index in 0..<size { bytes.append(UInt8(truncatingIfNeeded: value >> (8 * index))) }
        }
        text("RIFF")
        number(36 + count * 2, 4)
        text("WAVEfmt ")
        number(16, 4)
        number(1, 2)
        number(1, 2)
        number(SynthesisedMusic.sampleRate, 4)
        number(SynthesisedMusic.sampleRate * 2, 4)
        number(2, 2)
        number(16, 2)
        text("data")
        number(count * 2, 4)
        let noteLength = SynthesisedMusic.sampleRate / 4
        var tones: [(step: Double, phase: Double, volume: Double)] = []
        for index in 0..<count {
            if index % noteLength == 0 { tones = notes(number: index / noteLength, sounding: tones) }
            var sample = 0.0
            for tone in tones.indices {
                sample += sin(tones[tone].phase) * tones[tone].volume
                tones[tone].phase += tones[tone].step
                tones[tone].volume *= 0.99988
            }
            number(Int(max(-1, min(1, sample)) * 28_000), 2)
        }
        return bytes
    }

    // Every quarter second a note of the chord; every two seconds a bass note; the last few go on sounding.
    private func notes(
        number: Int, sounding: [(step: Double, phase: Double, volume: Double)]
    ) -> [(step: Double, phase: Double, volume: Double)] {
        let chord = SynthesisedMusic.chords[number / 8 % SynthesisedMusic.chords.count]
        let figure = [0, chord.isMinor ? 3 : 4, 7, 12, 7, chord.isMinor ? 15 : 16, 12, 7]
        var tones = Array(sounding.suffix(5))
        tones.append(tone(semitones: chord.root + 24 + figure[number % 8], volume: 0.22))
        if number % 8 == 0 { tones.append(tone(semitones: chord.root, volume: 0.3)) }
        return tones
    }

    private func tone(semitones: Int, volume: Double) -> (step: Double, phase: Double, volume: Double) {
        let frequency = 110 * pow(2, Double(semitones + transposition) / 12)
        return (2 * Double.pi * frequency / Double(SynthesisedMusic.sampleRate), 0, volume)
    }
}
