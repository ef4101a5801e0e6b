import CMpv
import Dispatch
import Foundation
import Synchronization

/// libmpv's player, as far as this program needs it.
@safe struct Player {
    /// How playing ended.
    enum End {
        case finished, stopped
    }

    private let handle: OpaquePointer

    /// - Parameter options: Names and values as mpv knows them.
    init(options: [(name: String, value: String)]) throws(Failure) {
        guard let handle = unsafe mpv_create() else { throw Failure("libmpv cannot be used") }
        unsafe self.handle = unsafe handle
        for (name, value) in options { try check("--\(name)", unsafe mpv_set_option_string(handle, name, value)) }
        try check("libmpv", unsafe mpv_initialize(handle))
    }

    /// Ends the player and waits until all its streams are closed.
    func destroy() { unsafe mpv_terminate_destroy(handle) }

    func register(_ streams: CacheStreams) throws(Failure) { unsafe try streams.register(with: handle) }

    /// Plays `address` to its end, or until a signal asks to stop; tells the position once a second of media.
    func play(_ address: String, tell: (_ position: Double, _ length: Double) -> Void) throws(Failure) -> End {
        let signals = stopsAtSignals()
        defer { withExtendedLifetime(signals) {} }
        try check("position", unsafe mpv_observe_property(handle, 0, "time-pos", MPV_FORMAT_DOUBLE))
        try command(["loadfile", address])
        var told = -1
        while true {
            guard let event = unsafe mpv_wait_event(handle, -1) else { continue }
            switch unsafe event.pointee.event_id {
            case MPV_EVENT_SHUTDOWN: return .stopped
            case MPV_EVENT_END_FILE:
                guard let data = unsafe event.pointee.data else { return .finished }
                let end = unsafe data.assumingMemoryBound(to: mpv_event_end_file.self).pointee
                if end.reason == MPV_END_FILE_REASON_ERROR { try check("playing", end.error) }
                return end.reason == MPV_END_FILE_REASON_EOF ? .finished : .stopped
            case MPV_EVENT_PROPERTY_CHANGE:
                let position = number("time-pos")
                guard let position, Int(position) != told else { continue }
                told = Int(position)
                tell(position, number("duration") ?? 0)
            default: continue
            }
        }
    }

    private func number(_ property: String) -> Double? {
        var value = 0.0
        return unsafe mpv_get_property(handle, property, MPV_FORMAT_DOUBLE, &value) < 0 ? nil : value
    }

    private func command(_ words: [String]) throws(Failure) {
        var arguments = unsafe words.map { unsafe UnsafePointer(strdup($0)) } + [nil]
        defer { unsafe arguments.forEach { unsafe free(UnsafeMutablePointer(mutating: $0)) } }
        try check(words.joined(separator: " "), unsafe mpv_command(handle, &arguments))
    }

    /// SIGINT and SIGTERM as the command to quit, for as long as the result is held.
    private func stopsAtSignals() -> [any DispatchSourceSignal] {
        [SIGINT, SIGTERM].map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            // The player outlives the sources, and may be called by any thread.
            nonisolated(unsafe) let handle = unsafe handle
            source.setEventHandler { unsafe mpv_command_string(handle, "quit") }
            source.resume()
            return source
        }
    }
}

/// What could not be done, for a person.
struct Failure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// Throws what an error code of libmpv means.
func check(_ what: String, _ code: Int32) throws(Failure) {
    if code < 0 { throw Failure("\(what): \(unsafe String(cString: mpv_error_string(code)))") }
}

/// Prints a line at once, also where nobody looks at it on a terminal.
func tell(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }

/// Tells the person at the terminal what is wrong, once: libmpv tries again, and fails again.
func complain(_ text: String) {
    let isNew = lastComplaint.withLock { last in
        defer { last = text }
        return last != text
    }
    if isNew { FileHandle.standardError.write(Data("mpv-player: \(text)\n".utf8)) }
}

private let lastComplaint = Mutex("")
