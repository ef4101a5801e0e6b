#if canImport(Network)
    import Dispatch
    import Network
    import ReprisePlatform

    /// The system's own watch on the network.
    public final class SystemNetworkPath: NetworkPath {
        private final class Memory: Sendable {
            private let wasSatisfied = Lock<Bool?>(nil)

            // The first word only tells how things are.
            func returns(isSatisfied: Bool) -> Bool {
                wasSatisfied.withLock { was in
                    defer { was = isSatisfied }
                    return was == false && isSatisfied
                }
            }
        }

        private final class Watch: NetworkPathWatch {
            private let monitor: Lock<NWPathMonitor>

            init(onReturn: @escaping @Sendable () -> Void) {
                let memory = Memory()
                let monitor = NWPathMonitor()
                monitor.pathUpdateHandler = { path in
                    if memory.returns(isSatisfied: path.status == .satisfied) { onReturn() }
                }
                monitor.start(queue: DispatchQueue(label: "reprise.path", qos: .utility))
                self.monitor = Lock(monitor)
            }

            deinit { monitor.withLock { $0.cancel() } }
        }

        /// Makes a path; the system is only asked while somebody watches.
        public init() {}

        /// Begins to watch.
        public func watch(onReturn: @escaping @Sendable () -> Void) -> any NetworkPathWatch {
            Watch(onReturn: onReturn)
        }
    }
#endif
