import RepriseHTTP
import ReprisePlatform
import RepriseRanges
import RepriseStorage

/// The origin has another representation.
extension SessionState {
    mutating func changed(
        _ id: Int, _ head: OriginResponseHead, _ held: Representation?, _ difference: Mismatch, length: Int64?,
        servesRanges: Bool
    ) {
        guard let held else { return }
        if head.status == 416 { return lengthChanged(id, held, difference) }
        let new = Validator(fields: head.fields)
        if head.status == 200 || head.status == 206, isWorthTrial(id, held, new, length: length) {
            return tryByOverlap(id, held)
        }
        guard storable(head) || held.isTransient else {
            finish(id)
            effects.append(.event(.mismatch(key: key.text, .page(head.fields, insteadOf: held.info.fields))))
            note(.originInvalid, "the origin answered with a page instead of media; what is stored was kept")
            return
        }
        guard let transfer = transfers[id], let request = transfer.request else { return }
        effects.append(.event(.generationChanged(key: key.text, difference)))
        // All of it, to a range without a condition, is the answer of an origin that serves none.
        let ignoresRanges = head.status == 200 && request.asked != nil && !request.isConditional
        let servesRanges = (servesRanges || held.info.servesRanges) && !ignoresRanges
        let number = addRepresentation(head, request, length: length, servesRanges: servesRanges)
        supersede(held.id)
        let wanted = self.head(of: transfer)
        let part = head.fields["Content-Range"].flatMap(ContentRange.parse)
        restart(id, at: head.status == 206 ? request.asked?.lowerBound ?? 0 : wanted)
        transfers[id]?.representation = number
        transfers[id]?.request?.isCheck = false
        let continuation = makeContinuation()
        transfers[id]?.continuation = continuation
        for reader in readers.ids where mayBeGiven(reader, number, request) { give(reader, number) }
        if head.status == 206, case .satisfied(let range, _)? = part {
            beginBody(id, at: range.lowerBound, end: range.upperBound)
        } else if wanted > tuning.firstRequest, servesRanges {
            finish(id)
        } else {
            rebase(id)
            beginBody(id, at: 0, end: length)
        }
    }

    /// Whether a reader that was told nothing yet is given the new representation: one that its transfer runs for, whose
    /// request fields choose it.
    private mutating func mayBeGiven(_ reader: Int, _ number: Int, _ request: Transfer.Request) -> Bool {
        guard let found = readers[reader], !found.isBound, found.failure == nil, found.representation != number,
            transfers.contains(where: { $0.request?.serial == request.serial && $0.readers.contains(reader) }),
            belongs(reader, to: number)
        else { return false }
        return true
    }

    /// A 416 told of another length: its body is a message, and says nothing of the resource's bytes.
    mutating func lengthChanged(_ id: Int, _ held: Representation, _ difference: Mismatch) {
        effects.append(.event(.generationChanged(key: key.text, difference)))
        finish(id)
        giveUp(held.id)
    }

    /// A representation cannot be continued, and no answer has shown its successor: readers that were told nothing yet start
    /// over without one; the next answer makes one.
    mutating func giveUp(_ number: Int) {
        hasGivenUp = true
        supersede(number)
        for reader in readers.ids
        where readers[reader]?.representation == number && readers[reader]?.isBound == false {
            readers[reader]?.representation = nil
        }
        if current == number { current = nil }
    }

    /// The origin has another representation: this one can be read, not filled any more.
    mutating func supersede(_ number: Int) {
        representations[number]?.isSuperseded = true
        // The transfer whose answer showed the change is handed to the new representation by its caller.
        for other in transfers.ids
        where transfers[other]?.representation == number && transfers[other]?.request?.hasHead != true {
            finish(other)
        }
    }
}
