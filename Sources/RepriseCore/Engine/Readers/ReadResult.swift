import RepriseStorage

/// What a reader gets.
enum ReadResult {
    case memory(ArraySlice<UInt8>, at: Int64)
    case lease(ExtentLease)
    /// The waker is called when it is worth asking again.
    case pending
    case end
    case failed(CacheError)
    /// It goes on with another entry.
    case redirected(Redirect)

    init(_ ending: ReaderEnding) {
        switch ending {
        case .failed(let error): self = .failed(error)
        case .redirected(let redirect): self = .redirected(redirect)
        }
    }
}

/// What a reader is told of its resource.
enum InfoResult {
    case known(ContentInfo)
    /// An interim answer of the origin's; it is worth asking again.
    case interim(OriginResponseHead)
    /// The waker is called when it is worth asking again.
    case pending
    case failed(CacheError)
    case redirected(Redirect)

    init(_ ending: ReaderEnding) {
        switch ending {
        case .failed(let error): self = .failed(error)
        case .redirected(let redirect): self = .redirected(redirect)
        }
    }
}
