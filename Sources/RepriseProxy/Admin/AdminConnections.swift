/// The connections of a listener for administrators: how many there may be, and which one gives way. No I/O.
package struct AdminConnections: Sendable {
    /// What becomes of a new connection.
    package enum Admission: Sendable, Hashable {
        case admitted
        /// It takes the place of this one, which is closed.
        case inPlaceOf(ObjectIdentifier)
        /// All others have shown the secret: it is closed.
        case refused
    }

    private let limit: Int
    /// In the order in which they came.
    private var open: [(id: ObjectIdentifier, isAllowed: Bool)] = []

    package init(limit: Int) { self.limit = limit }

    /// Counts a connection in. Where there are too many, the oldest that has not shown the secret gives way.
    package mutating func admit(_ id: ObjectIdentifier) -> Admission {
        var admission = Admission.admitted
        if open.count >= limit {
            guard let oldest = open.firstIndex(where: { !$0.isAllowed }) else { return .refused }
            admission = .inPlaceOf(open.remove(at: oldest).id)
        }
        open.append((id, false))
        return admission
    }

    /// A connection has shown the secret.
    package mutating func allow(_ id: ObjectIdentifier) {
        if let index = open.firstIndex(where: { $0.id == id }) { open[index].isAllowed = true }
    }

    /// A connection has ended.
    package mutating func leave(_ id: ObjectIdentifier) { open.removeAll { $0.id == id } }
}
