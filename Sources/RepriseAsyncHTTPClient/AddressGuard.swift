#if Server
    import NIOCore
    import RepriseHTTP

    /// Looks at the address a connection was made to, before a request is sent on it: a name may lead elsewhere now than
    /// a moment ago, so a lookup of our own would prove nothing.
    struct AddressGuard: Sendable {
        /// The address may not be asked, or is not known.
        struct Refused: Error {
            let address: IPAddress?
            let rules: UpstreamRules

            /// The refusal as a request for `host` is told of it.
            func refusal(_ host: String) -> UpstreamRules.Refusal? {
                address.flatMap { rules.refusal(of: $0, host: nameOf(host)) }
            }
        }

        let rules: UpstreamRules

        /// Succeeds where the channel's address may be asked; else the channel is closed.
        func check(_ channel: any Channel) -> EventLoopFuture<Void> {
            let address = channel.remoteAddress?.ipAddress.flatMap { IPAddress($0) }
            // The name is not known here, nor does it matter: an allowed host does not come here.
            if let address, rules.refusal(of: address, host: "") == nil {
                return channel.eventLoop.makeSucceededVoidFuture()
            }
            // Afterwards: the pool has to hear of the failure before it hears that the connection closed.
            channel.eventLoop.execute { channel.close(promise: nil) }
            return channel.eventLoop.makeFailedFuture(Refused(address: address, rules: rules))
        }
    }

    /// `host` where it is a name, `nil` where it is an address.
    func nameOf(_ host: String) -> String? { IPAddress(UpstreamPattern.plainHost(host)) == nil ? host : nil }
#endif
