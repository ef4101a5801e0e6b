/// Plays items one after the other. Each is loaded from when it is in the queue.
@MainActor open class AVQueuePlayer: AVPlayer {
    /// A player with an empty queue.
    public nonisolated init() { super.init(isQueue: true) }
    /// A player of these items.
    public nonisolated convenience init(items: [AVPlayerItem]) {
        self.init()
        for item in items { insert(item, after: nil) }
    }

    /// The queue; the first one is the current item.
    open nonisolated func items() -> [AVPlayerItem] { read(\.items) }
    /// Goes on with the next item; no request of the old one is cancelled while that lives.
    open nonisolated func advanceToNextItem() { change { $0.setItems(Array($0.items.dropFirst()), &$1) } }
    /// Whether the item may come in behind the other; nil for the end of the queue.
    open nonisolated func canInsert(_ item: AVPlayerItem, after afterItem: AVPlayerItem?) -> Bool {
        read { core in item.core.player == nil && (afterItem.map { core.items.contains($0) } ?? true) }
    }
    /// Puts the item behind the other, or at the end of the queue. One that is in a queue already is an exception.
    open nonisolated func insert(_ item: AVPlayerItem, after afterItem: AVPlayerItem?) {
        change { core, turn in
            guard core.admits(item) else { return }
            var items = core.items
            items.insert(item, at: afterItem.flatMap { items.firstIndex(of: $0) }.map { $0 + 1 } ?? items.count)
            core.setItems(items, &turn)
        }
    }
    /// Takes the item out.
    open nonisolated func remove(_ item: AVPlayerItem) {
        change { core, turn in core.setItems(core.items.filter { $0 !== item }, &turn) }
    }
    /// Takes all items out.
    open nonisolated func removeAllItems() { change { $0.setItems([], &$1) } }
}
