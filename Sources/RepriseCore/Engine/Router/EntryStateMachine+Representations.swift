import RepriseHTTP
import ReprisePlatform
import RepriseRanges
import RepriseStorage

/// What an answer's head makes of its body: a representation, whether it may be stored, and what is kept of its fields.
extension EntryStateMachine {
    mutating func makeRepresentation(
        _ head: OriginResponseHead, _ request: OriginRequestState, length: Int64?, servesRanges: Bool,
        for audience: Representation.Audience, isHandedOn: Bool = false
    ) -> Representation {
        let validator = Validator(fields: head.fields)
        // The answer makes it, but not alone where another's bytes come first and nothing tells the two apart.
        request.accept(identifies(head.fields, request) ? .validator : .nothing)
        let id: RepresentationID = makeID()
        let type = MediaType(head.fields["Content-Type"])
        // By chance in its lowest bits, too, by which its writes are spread over lanes.
        let identity = UInt64(id.number) << 52 | UInt64(environment.queues.randomFraction() * 0x1p52)
        let kind = isHandedOn ? .handedOn : kind(of: head)
        let stores =
            environment.store != nil && !isPrivate && lifecycle.isListed && audience == .everybody && kind != .transient
        var fields = storedFields(head)
        // Of what is stored the trailers are not.
        if stores { fields.remove(["Trailer"]) }
        let kept = selector.isSharedHTTP ? StoringRule.kept(fields) : fields
        var info = EntryInfo(
            key: key.text, url: url.description, generation: 0, identity: identity,
            fileExtension: url.pathExtension ?? type?.fileExtension ?? "bin",
            validator: validator, length: length, servesRanges: servesRanges,
            fields: kept,
            checked: revalidation.isOutdated(sentAt: request.sentAt)
                ? Freshness.invalidated : wallClock(at: request.sentAt))
        info.variant = selector.variant(of: head.fields, to: request.sentFields)
        info.status = head.status == 206 ? 200 : head.status
        let representation = Representation(
            id: id, info: info, storage: stores ? .undecided : .off(.notStorable), audience: audience,
            kind: isPrivate && kind == .transient ? .unknown : kind,
            ownFields: kept == fields ? nil : fields, requester: request.requester, now: now)
        representations.insert(representation)
        if !isHandedOn { representations.noteShown(by: request.id) }
        return representation
    }

    /// What an answer's head makes of its body. Text is decided by its first bytes: some servers call media so.
    private func kind(of head: OriginResponseHead) -> Representation.Kind {
        if isMedia(head.fields), head.status == 200 || head.status == 206 { return .unknown }
        return selector.isSharedHTTP && isWorthStoring(head) ? .storable : .transient
    }

    /// Whether something else than media is fresh for a while: a shared cache stores that, where it displaces no media. A page
    /// has to say so itself.
    func isWorthStoring(_ head: OriginResponseHead) -> Bool {
        // Also what was given up is on the disk until something complete takes its place.
        let holdsMedia = representations.contains { $0.isCommitted && $0.isResource && isMedia($0.info.fields) }
        if holdsMedia { return false }
        let freshness = Freshness(fields: head.fields, status: head.status, checked: wallClock)
        return (isMedia(head.fields) ? freshness.lifetime : freshness.explicitLifetime ?? 0) > 0
    }

    /// Whether a body of that type may be media.
    func isMedia(_ fields: HTTPFields) -> Bool {
        guard let type = MediaType(fields["Content-Type"]) else { return true }
        return type.essence == "text/plain" || !(type.isMarkup || type.isManifest)
    }

    /// The fields of an answer as they are stored.
    func storedFields(_ head: OriginResponseHead) -> HTTPFields {
        var fields = head.fields
        fields.removeConnectionFields()
        fields.remove(["Content-Length"])
        if head.status == 206 { fields.remove(["Content-Range"]) }
        if environment.freshness != .http {
            fields.remove(["Content-Range"] + RelayedAnswer.ofTheHost)
        }
        return fields
    }

    /// When a request was sent, in seconds since 1970: from then on its answer ages (RFC 9111 §4.2.3, `response_delay`).
    func wallClock(at sentAt: Int64) -> Int64 { wallClock - max(0, now - sentAt) / TransferTuning.second }
}
