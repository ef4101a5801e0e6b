import RepriseHTTP

/// Interim answers that a reader's door was not told of.
struct InterimAnswers {
    /// Most that wait to be told: an origin may send any number.
    private static let most = 16

    private var heads: [OriginResponseHead] = []

    mutating func receive(_ head: OriginResponseHead) { if heads.count < InterimAnswers.most { heads.append(head) } }

    /// The first that was not told.
    mutating func take() -> OriginResponseHead? { heads.isEmpty ? nil : heads.removeFirst() }
}
