import CMpv
import Foundation
import RepriseCore
import Synchronization

/// The streams libmpv has open, by number.
///
/// A number is libmpv's cookie, not a pointer: a cancel that comes when its stream was closed then finds nothing, instead of
/// freed memory.
final class StreamTable: Sendable {
    /// Callbacks of C carry no context but the cookie.
    static let shared = StreamTable()

    private struct State {
        var streams: [UInt: BlockingReader] = [:]
        var next: UInt = 1
    }

    private let state = Mutex(State())

    func add(_ stream: BlockingReader) -> UInt {
        state.withLock { state in
            defer { state.next += 1 }
            state.streams[state.next] = stream
            return state.next
        }
    }

    /// The stream of a cookie; `nil` once it was closed.
    func stream(_ number: UInt) -> BlockingReader? { state.withLock { $0.streams[number] } }

    /// Lets go of a stream. Its reader goes with it, and who leaves last stops the transfer.
    func close(_ number: UInt) { state.withLock { $0.streams[number] = nil } }
}

/// What libmpv reads `reprise://URL` from.
final class CacheStreams: Sendable {
    /// In front of the URL that is meant.
    static let scheme = "reprise"
    private let cache: MediaCache

    init(_ cache: MediaCache) { self.cache = cache }

    /// Makes the scheme known to a player. The player must not outlive this object.
    func register(with player: OpaquePointer) throws(Failure) {
        let me = unsafe Unmanaged.passUnretained(self).toOpaque()
        try unsafe check(
            "stream callbacks",
            mpv_stream_cb_add_ro(player, CacheStreams.scheme, me) { me, address, info in
                guard let me = unsafe me, let address = unsafe address, let info = unsafe info else {
                    return MPV_ERROR_LOADING_FAILED.rawValue
                }
                let streams = unsafe Unmanaged<CacheStreams>.fromOpaque(me).takeUnretainedValue()
                guard let number = unsafe streams.open(String(cString: address)) else {
                    return MPV_ERROR_LOADING_FAILED.rawValue
                }
                unsafe info.pointee.cookie = UnsafeMutableRawPointer(bitPattern: number)
                unsafe info.pointee.read_fn = { cookie, buffer, count in unsafe read(cookie, buffer, count) }
                unsafe info.pointee.seek_fn = { cookie, offset in unsafe seek(cookie, offset) }
                unsafe info.pointee.size_fn = { cookie in unsafe size(cookie) }
                unsafe info.pointee.close_fn = { cookie in StreamTable.shared.close(UInt(bitPattern: cookie)) }
                unsafe info.pointee.cancel_fn = { cookie in unsafe stream(cookie)?.cancel() }
                return 0
            })
    }

    /// Opens a stream; `nil` for an address that is none. Waits for nothing, as there is no cookie to cancel it by yet:
    /// whether the origin has it is seen at the first read.
    private func open(_ address: String) -> UInt? {
        guard address.hasPrefix(CacheStreams.scheme + "://"),
            let url = URL(string: String(address.dropFirst(CacheStreams.scheme.count + 3)))
        else { return nil }
        do throws(CacheError) {
            return StreamTable.shared.add(BlockingReader(try cache.resource(for: url).reader()))
        } catch {
            complain("\(error)")
            return nil
        }
    }
}

private func stream(_ cookie: UnsafeMutableRawPointer?) -> BlockingReader? {
    StreamTable.shared.stream(UInt(bitPattern: cookie))
}

private func read(
    _ cookie: UnsafeMutableRawPointer?, _ buffer: UnsafeMutablePointer<CChar>?, _ count: UInt64
) -> Int64 {
    guard let stream = unsafe stream(cookie), let buffer = unsafe buffer else { return -1 }
    do {
        guard let chunk = try stream.next(limit: Int(clamping: count)) else { return 0 }
        unsafe UnsafeMutableRawBufferPointer(start: buffer, count: chunk.bytes.count).copyBytes(from: chunk.bytes)
        return Int64(chunk.bytes.count)
    } catch {
        if !(error is BlockingReader.Cancelled) { complain("read: \(error)") }
        return -1
    }
}

private func seek(_ cookie: UnsafeMutableRawPointer?, _ offset: Int64) -> Int64 {
    guard let stream = unsafe stream(cookie), offset >= 0 else { return Int64(MPV_ERROR_GENERIC.rawValue) }
    do { try stream.seek(to: offset) } catch { return Int64(MPV_ERROR_GENERIC.rawValue) }
    return offset
}

private func size(_ cookie: UnsafeMutableRawPointer?) -> Int64 {
    guard let stream = unsafe stream(cookie) else { return Int64(MPV_ERROR_GENERIC.rawValue) }
    do { return try stream.length() ?? Int64(MPV_ERROR_UNSUPPORTED.rawValue) } catch {
        return Int64(MPV_ERROR_UNSUPPORTED.rawValue)
    }
}
