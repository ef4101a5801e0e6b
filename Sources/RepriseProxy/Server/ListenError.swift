#if Proxy
    import NIOCore
    import ReprisePlatform

    /// A server cannot listen where it was told to. Its description is a sentence for a person: where, and why.
    public struct ListenError: Error, Sendable, CustomStringConvertible {
        /// Address and port.
        public let place: String
        /// Why it cannot.
        public let reason: String

        init(_ error: any Error, host: String, port: Int) {
            place = "\(host.contains(":") ? "[\(host)]" : host):\(port)"
            reason =
                switch error {
                case let error as IOError: SystemCalls.reasonNotToListen(error.errnoCode)
                case is SocketAddressError: "there is no such address"
                default: "\(error)"
                }
        }

        /// Where it cannot listen, and why.
        public var description: String { "cannot listen on \(place): \(reason)" }
    }
#endif
