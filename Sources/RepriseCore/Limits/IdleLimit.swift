/// How many resources stay open that nobody reads. Each has two files open, and somebody who goes through thousands of songs
/// would have taken all descriptors of the process before the first is closed by its time.
struct IdleLimit: Sendable {
    /// So many may.
    let most: Int
    /// Beyond so many open ones it is looked which are idle.
    private var nextLook: Int
    private var isLooking = false

    init(most: Int) {
        self.most = most
        nextLook = most
    }

    /// Whether there are so many open ones that the caller has to look which are idle, and to call `looked`.
    mutating func beginsLook(at count: Int) -> Bool {
        guard count > nextLook, !isLooking else { return false }
        isLooking = true
        return true
    }

    /// How many of the idle have to be closed, those first that are idle for longest; a quarter more than there has to be,
    /// so that the next look is not at once.
    mutating func looked(idle: Int, of count: Int) -> Int {
        isLooking = false
        let surplus = idle > most ? idle - most + most / 4 : 0
        nextLook = max(most, count - surplus + most / 4)
        return surplus
    }
}
