#if Proxy
    import NIOCore

    /// What a connection waits for at most, and what happens then: one thing at a time.
    ///
    /// It moves with every request, so a moved deadline costs no timer: the one that runs looks, when it ends, at how
    /// things are then. Lives on its event loop.
    final class ConnectionDeadline: NIOScheduledCallbackHandler {
        private let loop: any EventLoop
        private let server: ProxyServer
        private var due: NIODeadline?
        private var action: (() -> Void)?
        private var timer: (end: NIODeadline, scheduled: NIOScheduledCallback)?

        init(on loop: any EventLoop, of server: ProxyServer) {
            self.loop = loop
            self.server = server
        }

        /// From now on `action` is done after `seconds`, in place of what was to be done before.
        func set(_ seconds: Int, _ action: @escaping () -> Void) {
            let due = loop.now + .seconds(Int64(seconds))
            self.due = due
            self.action = action
            if let timer, timer.end <= due { return }
            stopTimer()
            startTimer(until: due)
        }

        /// The client is to take a byte of its answer within the time that clients have, or `action` is done.
        func setForClient(_ action: @escaping () -> Void) {
            set(server.configuration.slowClientTimeout) { [server] in
                server.limits.met(.clientTimeout)
                action()
            }
        }

        /// Nothing is waited for.
        func clear() {
            due = nil
            action = nil
        }

        /// Ends it for good, its timer too.
        func end() {
            clear()
            stopTimer()
        }

        // A callback costs a connection hundreds of bytes less than a task.
        private func startTimer(until end: NIODeadline) {
            // It fails where its loop ends, and everything with it.
            timer = (try? loop.assumeIsolated().scheduleCallback(at: end, handler: self)).map { (end, $0) }
        }

        private func stopTimer() {
            timer?.scheduled.cancel()
            timer = nil
        }

        func handleScheduledCallback(eventLoop: some EventLoop) {
            timer = nil
            guard let due else { return }
            guard due <= loop.now else { return startTimer(until: due) }
            let action = action
            clear()
            action?()
        }
    }
#endif
