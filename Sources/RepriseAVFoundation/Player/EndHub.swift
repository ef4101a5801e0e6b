#if canImport(AVFoundation) && !os(watchOS)
    /// Tells any number of listeners how items ended; lets them go with itself.
    @MainActor
    final class EndHub {
        private var listeners: [AsyncStream<PlaybackEnd>.Continuation] = []

        func stream() -> AsyncStream<PlaybackEnd> {
            let (stream, continuation) = AsyncStream.makeStream(
                of: PlaybackEnd.self, bufferingPolicy: .bufferingNewest(64))
            listeners.append(continuation)
            return stream
        }

        func send(_ end: PlaybackEnd) {
            listeners.removeAll { listener in
                if case .terminated = listener.yield(end) { true } else { false }
            }
        }

        deinit { for listener in listeners { listener.finish() } }
    }
#endif
