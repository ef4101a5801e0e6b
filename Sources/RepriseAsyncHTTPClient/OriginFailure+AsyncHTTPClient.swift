#if Server
    import AsyncHTTPClient
    import NIOCore
    import NIOHTTP1
    import NIOPosix
    import RepriseCore
    import RepriseHTTP
    import ReprisePlatform

    extension OriginFailure {
        /// The rules do not let somebody be asked.
        init(_ refusal: UpstreamRules.Refusal) { self.init(.refused, refusal.description) }

        /// What an error of the library means.
        /// - Parameters:
        ///   - host: Whom the request was for.
        ///   - exit: How it was sent.
        ///   - rules: Who may be asked.
        init(_ error: any Error, host: String, exit: OriginExit, rules: UpstreamRules) {
            if let refusal = OriginFailure.refusal(error, host: host, exit: exit, rules: rules) {
                self.init(refusal)
            } else if let proxy = exit.proxy, let words = OriginFailure.trouble(error, with: proxy) {
                self.init(.unreachable, words)
            } else {
                self = OriginFailure.plain(error)
            }
        }

        private static func refusal(
            _ error: any Error, host: String, exit: OriginExit, rules: UpstreamRules
        ) -> UpstreamRules.Refusal? {
            if let error = error as? AddressGuard.Refused { return error.refusal(host) }
            guard exit == .direct(isTrusted: false), let error = error as? NIOConnectionError else { return nil }
            // Whether a refused address answers or not is nobody's business.
            let refusals = error.connectionErrors.map { failed in
                failed.target.ipAddress.flatMap { IPAddress($0) }.flatMap { rules.refusal(of: $0, host: nameOf(host)) }
            }
            return refusals.contains { $0 == nil } ? nil : refusals.first ?? nil
        }

        private static func trouble(_ error: any Error, with proxy: UpstreamProxy) -> String? {
            switch error as? HTTPClientError {
            case .proxyAuthenticationRequired?: return "the proxy \(proxy) wants other credentials"
            case .invalidProxyResponse?, .httpProxyHandshakeTimeout?, .socksHandshakeTimeout?:
                return "the proxy \(proxy) does not lead on to the origin"
            default: break
            }
            // A connection to an address, not a name, fails with the system's own error.
            let isUnreachable = (error as? IOError).map { SystemCalls.meansUnreachable($0.errnoCode) }
            return isUnreachable ?? (error is NIOConnectionError) ? "the proxy \(proxy) cannot be reached" : nil
        }

        private static func plain(_ error: any Error) -> OriginFailure {
            if error is AddressGuard.Refused {
                return OriginFailure(.interrupted, "the connection was gone before it was used")
            }
            if let error = error as? StatusGuard.Refused {
                return OriginFailure(.malformed, "the origin answered with the status \(error.status), which is none")
            }
            if error is HTTPParserError { return OriginFailure(.malformed, "the origin's answer is not HTTP") }
            if let error = error as? HTTPClientError {
                switch error {
                case .connectTimeout, .readTimeout, .deadlineExceeded, .getConnectionFromPoolTimeout:
                    return OriginFailure(.timedOut, "the origin did not answer in time")
                case .remoteConnectionClosed:
                    return OriginFailure(.interrupted, "the origin closed the connection")
                default: return OriginFailure(.malformed, "\(error.shortDescription)")
                }
            }
            if error is NIOConnectionError || error is ChannelError {
                return OriginFailure(.unreachable, "the origin cannot be reached")
            }
            if let error = error as? IOError {
                let words = SystemCalls.message(error.errnoCode)
                return SystemCalls.meansUnreachable(error.errnoCode)
                    ? OriginFailure(.unreachable, "the origin cannot be reached: \(words)")
                    : OriginFailure(.interrupted, "the connection to the origin broke: \(words)")
            }
            let text = String(describing: error)
            let isTLS = text.contains("certificate") || text.contains("handshake") || text.contains("SSL")
            return OriginFailure(isTLS ? .untrusted : .interrupted, isTLS ? "no trusted connection: \(text)" : text)
        }
    }
#endif
