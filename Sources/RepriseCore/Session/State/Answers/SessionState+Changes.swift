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
        let new = Validator(fields: head.fields)
        if head.status == 200 || head.status == 206, isWorthTrial(id, held, new, length: length) {
            return tryByOverlap(id, held)
        }
        guard storable(head) else {
            endRequest(id)
            finish(id)
            effects.append(.event(.mismatch(key: key.text, .page(head.fields, insteadOf: held.info.fields))))
            note(.originInvalid, "the origin answered with a page instead of media; what is stored was kept")
            return
        }
        effects.append(.event(.generationChanged(key: key.text, difference)))
        let number = addRepresentation(
            head, transfers[id]?.request, length: length, servesRanges: servesRanges || held.info.servesRanges)
        supersede(held.id)
        let wanted = transfers[id]?.window.head ?? 0
        let ownReaders = transfers[id]?.readers ?? []
        finishKeeping(id, number)
        for reader in ownReaders where readers[reader]?.isBound == false && belongs(reader, to: number) {
            give(reader, number)
        }
        guard let request = transfers[id]?.request else { return }
        if head.status == 206 {
            beginBody(id, at: request.asked?.lowerBound ?? 0, end: nil)
            if let range = head.fields["Content-Range"].flatMap(ContentRange.parse),
                case .satisfied(let part, _) = range
            {
                transfers[id]?.request?.end = part.upperBound
            }
        } else if wanted > tuning.firstRequest, servesRanges || held.info.servesRanges {
            endRequest(id)
            finish(id)
        } else {
            representations[number]?.info.servesRanges = servesRanges
            rebase(id)
            beginBody(id, at: 0, end: length)
        }
    }

    /// What a transfer has brought of the old representation stays with a finished twin; it goes on for the new one.
    private mutating func finishKeeping(_ id: Int, _ number: Int) {
        guard var transfer = transfers[id] else { return }
        if transfer.window.count > 0 || transfer.isWriting {
            var twin = transfer
            twin.request = nil
            twin.isFinished = true
            let twinID = makeID()
            transfers[twinID] = Transfer(copying: twin, id: twinID)
        }
        transfer.representation = number
        transfer.window = LiveWindow(at: transfer.request?.asked?.lowerBound ?? transfer.window.head)
        transfer.start = transfer.window.head
        transfer.writer = nil
        transfer.isWriting = false
        transfer.request?.overlap = []
        transfer.request?.isCheck = false
        transfers[id] = transfer
    }

    /// The origin has another representation: this one can be read, not filled any more.
    mutating func supersede(_ number: Int) {
        representations[number]?.isSuperseded = true
        // The transfer whose answer showed the change is handed to the new representation by its caller.
        for other in transfers.keys.sorted()
        where transfers[other]?.representation == number && transfers[other]?.request?.hasHead != true {
            finish(other)
        }
    }
}

extension Transfer {
    init(copying other: Transfer, id: Int) {
        self.init(
            id: id, representation: other.representation, start: other.start, requestIndex: other.requestIndex,
            now: other.lastProgress)
        window = other.window
        isFinished = true
        writer = other.writer
    }
}
