/// Whether the store was given away, and the work that waits until it is back.
///
///     active --suspend--> suspended --resume--> active: the work is done or dropped
///                             |__ drop: it never will be
///
/// While suspended nothing is asked for and nothing is handed out. Work may be put aside shortly before: the store is left before
/// its entries are told.
struct DeferredWork {
    private(set) var isSuspended: Bool
    private var work: [EntryAction] = []

    init(isSuspended: Bool) { self.isSuspended = isSuspended }

    /// `false` where it was suspended already.
    mutating func suspend() -> Bool {
        defer { isSuspended = true }
        return !isSuspended
    }

    /// Puts work aside.
    mutating func add(_ action: EntryAction) { work.append(action) }

    /// The cache is being closed: the work that will not be done.
    mutating func drop() -> [EntryAction] {
        defer { work = [] }
        return work
    }

    /// The store is back: the work that waited; `nil` where nothing did.
    mutating func resume() -> [EntryAction]? {
        guard isSuspended || !work.isEmpty else { return nil }
        defer { self = DeferredWork(isSuspended: false) }
        return work
    }
}
