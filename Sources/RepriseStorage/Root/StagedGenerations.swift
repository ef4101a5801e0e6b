/// Which generations of a store are being filled that no description names yet, by their entries' folder names. No I/O.
///
///     begin: its number is taken --made: its files are there--> filled --remove: it was named or given up--> (not here)
///                                                                  \__ its generation is gone: its files are left over
struct StagedGenerations: Sendable {
    private struct Staged: Sendable {
        enum State: Sendable {
            /// Its files are being made.
            case making
            /// It is being filled as long as it lives.
            case made(Weak)
        }

        struct Weak: Sendable { weak var life: Generation.Life? }

        let identity: UInt64
        /// Whether it is filled from a file, not by an entry that is open.
        let isImport: Bool
        var state: State

        var isFilled: Bool {
            switch state {
            case .making: true
            case .made(let weak): weak.life != nil
            }
        }
    }

    /// What was known of a generation that was named, or given up.
    enum Removed {
        /// It was here: no description has named it.
        case unnamed
        /// Another one has its number by now, as its own files were gone.
        case another
        case unknown
    }

    private var entries: [String: [Int: Staged]] = [:]

    /// Names of entries of which some are being filled.
    var names: [String] { entries.filter { $0.value.values.contains(where: \.isFilled) }.map(\.key) }

    /// Takes the number of an entry's next generation.
    /// - Parameters:
    ///   - isImport: Whether it will be filled from a file.
    ///   - numbers: Those of the entry's files.
    /// - Returns: The number, and those of the generations that are being filled now.
    mutating func begin(
        _ identity: UInt64, of name: String, isImport: Bool = false, besides numbers: [Int]
    ) -> (next: Int, filled: Set<Int>) {
        let filled = entries[name, default: [:]].filter { $0.value.isFilled }
        let next = (numbers + filled.keys).reduce(0, max) + 1
        entries[name] = filled.merging([next: Staged(identity: identity, isImport: isImport, state: .making)]) { $1 }
        return (next, Set(filled.keys))
    }

    /// Its files were made.
    mutating func made(_ generation: Generation, of name: String) {
        let isImport = entries[name]?[generation.number]?.isImport ?? false
        entries[name, default: [:]][generation.number] = Staged(
            identity: generation.identity, isImport: isImport, state: .made(Staged.Weak(life: generation.life)))
    }

    func isFilled(_ number: Int, of name: String) -> Bool { entries[name]?[number]?.isFilled ?? false }

    func isBeingImported(_ name: String) -> Bool {
        entries[name]?.values.contains { $0.isImport && $0.isFilled } ?? false
    }

    /// A description names it, or it was given up.
    mutating func remove(_ number: Int, _ identity: UInt64, of name: String) -> Removed {
        guard let staged = entries[name]?[number] else { return .unknown }
        guard staged.identity == identity else { return .another }
        entries[name]?[number] = nil
        if entries[name]?.isEmpty == true { entries[name] = nil }
        return .unnamed
    }

    /// An entry's folder goes, with whatever is in it.
    mutating func removeAll(of name: String) { entries[name] = nil }
}
