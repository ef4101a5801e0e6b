package import RepriseHTTP
package import RepriseStorage

/// Asking the origin whether what is stored is still good, and what its answer changes (RFC 9111 §4.3). No I/O.
///
/// By itself the cache sends no HEAD to an origin; what one that a client sent shows is used all the same (§4.3.5).
package enum Confirmation {
    /// The fields that make a request conditional on the stored answers of a URL (§4.3.1): every entity tag, and the
    /// newest date where there is only one. Empty where there is nothing to compare by.
    package static func conditions(_ stored: [Validator]) -> HTTPFields {
        var fields = HTTPFields()
        var tags: [EntityTag] = []
        for tag in stored.compactMap(\.entityTag) where !tags.contains(tag) { tags.append(tag) }
        if !tags.isEmpty { fields["If-None-Match"] = tags.map(\.field).joined(separator: ", ") }
        if stored.count == 1, let date = stored[0].lastModified { fields["If-Modified-Since"] = date }
        return fields
    }

    /// Which of the stored answers a 304 means (§4.3.4), newest first in `stored`: all with its strong validator; with
    /// a weak one the newest that matches; one that names nothing the only stored one, as that alone was asked about.
    package static func confirmed(_ stored: [Validator], by answer: HTTPFields) -> [Int] {
        let new = Validator(fields: answer)
        if let tag = new.entityTag {
            let matching = stored.indices.filter { index in
                stored[index].entityTag.map { tag.isWeak ? $0.matchesWeakly(tag) : $0.matchesStrongly(tag) } ?? false
            }
            return tag.isWeak ? Array(matching.prefix(1)) : matching
        }
        if new.lastModified != nil {
            return Array(stored.indices.filter { stored[$0].hasDate(of: new) }.prefix(1))
        }
        return stored.count == 1 ? [0] : []
    }

    /// Whether the head that answers HEAD is that of a stored answer (§4.3.5): its validators and its length are the same.
    /// `nil` where it has none of them.
    /// - Parameter length: What the head says GET's body has, in bytes.
    package static func isSame(_ stored: EntryInfo, _ answer: HTTPFields, length: Int64?) -> Bool? {
        let (old, new) = (stored.validator, Validator(fields: answer))
        if let tag = new.entityTag, old.entityTag != tag { return false }
        if new.lastModified != nil, !old.hasDate(of: new) { return false }
        if let length, stored.length != length { return false }
        return new.isEmpty && length == nil ? nil : true
    }

    /// Fields that a confirmation does not change (§3.2): those of the message and its connection, those that say how
    /// the stored bytes are to be read, and the validators they were stored under.
    package static let kept = [
        "Content-Length", "Content-Range", "Content-Encoding", "Content-Type", "Transfer-Encoding", "ETag",
        "Last-Modified", "Set-Cookie", "Set-Cookie2",
    ]

    /// The stored fields once a full answer has shown the same body: its own, but for those of the message, and of how
    /// the bytes were stored (§4.3.3).
    package static func replaced(_ stored: HTTPFields, by answer: HTTPFields) -> HTTPFields {
        var replaced = freshened(stored.keeping(kept), by: answer)
        if let type = answer["Content-Type"] { replaced["Content-Type"] = type }
        return replaced
    }

    /// The stored fields once a 304 has brought new ones (§3.2).
    package static func freshened(_ stored: HTTPFields, by answer: HTTPFields) -> HTTPFields {
        var new = answer
        new.removeHopByHop()
        new.remove(kept)
        var merged = stored
        // They belong to the answer that brought them: kept, they would make this one older than it is.
        merged.remove(["Age", "Date"])
        for line in new.lines { merged[line.name] = new[line.name] }
        return merged
    }
}
