import Glibc

/// What could not be done, for a person.
struct Failure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }

    static func system(_ call: String) -> Failure { Failure("\(call): \(unsafe String(cString: strerror(errno)))") }
}

/// A blocking TCP socket of this machine; closes with its owner.
struct Socket: ~Copyable {
    let descriptor: Int32

    init(adopting descriptor: Int32) { self.descriptor = descriptor }

    deinit { close(descriptor) }

    private static func loopback(_ port: UInt16) -> sockaddr_in {
        sockaddr_in(
            sin_family: sa_family_t(AF_INET), sin_port: port.bigEndian,
            sin_addr: in_addr(s_addr: UInt32(0x7F00_0001).bigEndian), sin_zero: (0, 0, 0, 0, 0, 0, 0, 0))
    }

    private static func make() throws(Failure) -> Socket {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { throw .system("socket") }
        let made = Socket(adopting: descriptor)
        made.set(Int32(IPPROTO_TCP), TCP_NODELAY, 1)
        return made
    }

    /// Connects to a port of 127.0.0.1.
    /// - Parameter receiveBuffer: Bytes the kernel holds for us; 0 leaves it to the kernel.
    static func connect(_ port: UInt16, receiveBuffer: Int32 = 0) throws(Failure) -> Socket {
        let made = try make()
        if receiveBuffer > 0 { made.set(SOL_SOCKET, SO_RCVBUF, receiveBuffer) }
        var address = loopback(port)
        let result = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                unsafe Glibc.connect(made.descriptor, pointer, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else { throw .system("connect") }
        return made
    }

    /// Listens on a port of 127.0.0.1.
    static func listen(_ port: UInt16) throws(Failure) -> Socket {
        let made = try make()
        made.set(SOL_SOCKET, SO_REUSEADDR, 1)
        var address = loopback(port)
        let result = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                unsafe bind(made.descriptor, pointer, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0, Glibc.listen(made.descriptor, 1024) == 0 else { throw .system("listen") }
        return made
    }

    /// The next connection.
    borrowing func accept() throws(Failure) -> Socket {
        let descriptor = Glibc.accept(self.descriptor, nil, nil)
        guard descriptor >= 0 else { throw .system("accept") }
        let made = Socket(adopting: descriptor)
        made.set(Int32(IPPROTO_TCP), TCP_NODELAY, 1)
        return made
    }

    borrowing func set(_ level: Int32, _ option: Int32, _ value: Int32) {
        var value = value
        unsafe setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<Int32>.size))
    }

    /// Makes the close a reset, which leaves nothing waiting in the kernel.
    borrowing func closeByReset() {
        var now = linger(l_onoff: 1, l_linger: 0)
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &now, socklen_t(MemoryLayout<linger>.size))
    }

    /// Sends all of `bytes`; `false` where the other side is gone.
    borrowing func send(_ bytes: [UInt8]) -> Bool {
        var done = 0
        while done < bytes.count {
            let sent = unsafe bytes.withUnsafeBytes { buffer in
                unsafe Glibc.send(
                    descriptor, buffer.baseAddress! + done, buffer.count - done, Int32(MSG_NOSIGNAL))
            }
            if sent <= 0 { return false }
            done += sent
        }
        return true
    }

    /// Appends what has come to `bytes`, at most `limit`; how many, 0 at the end, below 0 where it failed.
    borrowing func receive(into bytes: inout [UInt8], limit: Int = 16 * 1024) -> Int {
        var count = 0
        let piece = unsafe [UInt8](unsafeUninitializedCapacity: limit) { room, filled in
            count = unsafe recv(descriptor, room.baseAddress!, limit, 0)
            filled = max(0, count)
        }
        bytes += piece
        return count
    }

    /// Takes `count` bytes and drops them inside the kernel: a client that costs next to nothing. How many came.
    borrowing func discard(_ count: Int) -> Int {
        var done = 0
        while done < count {
            let flags = Int32(MSG_TRUNC) | Int32(MSG_WAITALL)
            let taken = recv(descriptor, nil, min(count - done, 1 << 20), flags)
            if taken <= 0 { break }
            done += taken
        }
        return done
    }
}

/// Nanoseconds on a clock that only goes forward.
func monotonic() -> Int64 {
    var time = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
}

/// Lets the thread wait until a time of `monotonic`.
func sleep(until time: Int64) {
    var target = timespec(tv_sec: Int(time / 1_000_000_000), tv_nsec: Int(time % 1_000_000_000))
    unsafe clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &target, nil)
}

/// Runs `body` on a thread of its own.
func onThread(_ body: @escaping @Sendable () -> Void) {
    final class Box {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
    var thread = pthread_t()
    var attributes = pthread_attr_t()
    unsafe pthread_attr_init(&attributes)
    unsafe pthread_attr_setstacksize(&attributes, 256 * 1024)
    unsafe pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
    let box = unsafe Unmanaged.passRetained(Box(body)).toOpaque()
    let result = unsafe pthread_create(
        &thread, &attributes,
        { raw in
            unsafe Unmanaged<Box>.fromOpaque(raw!).takeRetainedValue().body()
            return nil
        }, box)
    precondition(result == 0, "no thread could be started")
    unsafe pthread_attr_destroy(&attributes)
}
