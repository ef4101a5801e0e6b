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
            } else if OriginFailure.showsExhaustion(error) {
                let words =
                    "no connection to \(exit.proxy.map { "the proxy \($0)" } ?? host) can be made now: no file descriptors are left; "
                    + "raise their limit (ulimit -n), or allow fewer connections"
                self.init(.exhausted, words)
            } else if let proxy = exit.proxy, let words = OriginFailure.trouble(error, with: proxy) {
                self.init(.unreachable, words)
            } else {
                self = OriginFailure.plain(error, host)
            }
        }

        /// Whether there was no descriptor for the connection, or for looking up the name: that tells no code of its own.
        private static func showsExhaustion(_ error: any Error) -> Bool {
            switch error {
            case let error as IOError: SystemCalls.meansNoDescriptor(error.errnoCode)
            case let error as NIOConnectionError:
                error.connectionErrors.isEmpty
                    ? !SystemCalls.hasDescriptorLeft : error.connectionErrors.contains { showsExhaustion($0.error) }
            default: false
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

        private static func plain(_ error: any Error, _ host: String) -> OriginFailure {
            switch error {
            case is AddressGuard.Refused:
                return OriginFailure(.interrupted, "the connection was gone before it was used")
            case let error as StatusGuard.Refused:
                return OriginFailure(.malformed, "\(host) answered with the status \(error.status), which is none")
            case is HTTPParserError: return OriginFailure(.malformed, "what \(host) answered is not HTTP")
            case let error as HTTPClientError: return ofClient(error, host)
            case let error as NIOConnectionError: return ofConnection(error, host)
            case let error as IOError: return ofSystem(error.errnoCode, host)
            case ChannelError.connectTimeout: return lateConnection(host)
            // Written to as the other side had just closed it.
            case is ChannelError: return OriginFailure(.interrupted, "\(host) closed the connection")
            default: return ofTLS(String(describing: error), host)
            }
        }

        private static func lateConnection(_ host: String) -> OriginFailure {
            OriginFailure(.timedOut, "\(host) did not take a connection in time", cause: .connectionTimeout)
        }

        private static func ofClient(_ error: HTTPClientError, _ host: String) -> OriginFailure {
            switch error {
            case .connectTimeout, .getConnectionFromPoolTimeout: return lateConnection(host)
            case .tlsHandshakeTimeout:
                let words = "no secure connection to \(host) was agreed upon in time"
                return OriginFailure(.timedOut, words, cause: .connectionTimeout)
            case .readTimeout, .deadlineExceeded: return OriginFailure(.timedOut, "\(host) did not answer in time")
            case .remoteConnectionClosed: return OriginFailure(.interrupted, "\(host) closed the connection")
            default:
                return OriginFailure(.malformed, "what \(host) answered cannot be used: \(error.shortDescription)")
            }
        }

        private static func ofConnection(_ error: NIOConnectionError, _ host: String) -> OriginFailure {
            let codes = error.connectionErrors.compactMap { ($0.error as? IOError)?.errnoCode }
            if let code = mostTelling(codes) { return ofSystem(code, "\(host):\(error.port)") }
            guard error.connectionErrors.isEmpty else {
                return OriginFailure(.unreachable, "\(host) cannot be reached on port \(error.port)")
            }
            let words =
                "\(host) cannot be reached: its name is not known; check the URL, or whether names are looked up here"
            return OriginFailure(.unreachable, words, cause: .dnsError)
        }

        /// Of the codes of several addresses: on a machine with one kind of network the addresses of the other kind say only that.
        private static func mostTelling(_ codes: [CInt]) -> CInt? {
            codes.first { SystemCalls.reachability($0) == .refused }
                ?? codes.first { SystemCalls.reachability($0) == .timedOut }
                ?? codes.first { SystemCalls.reachability($0) != .noWay } ?? codes.first
        }

        private static func ofSystem(_ code: Int32, _ host: String) -> OriginFailure {
            let words = SystemCalls.message(code)
            switch SystemCalls.reachability(code) {
            case .refused:
                let words = "\(host) cannot be reached: nothing listens there (\(words)); check the port, or start it"
                return OriginFailure(.unreachable, words, cause: .connectionRefused)
            case .timedOut: return lateConnection(host)
            case .noWay:
                let words = "\(host) cannot be reached: no way leads there (\(words)); check this machine's network"
                return OriginFailure(.unreachable, words, cause: .unroutable)
            case nil: return OriginFailure(.interrupted, "the connection to \(host) broke: \(words)")
            }
        }

        /// The library for TLS tells its errors as text alone, with places in its own sources.
        private static func ofTLS(_ text: String, _ host: String) -> OriginFailure {
            if text.contains("CERTIFICATE_VERIFY_FAILED") {
                let words =
                    "the certificate of \(host) is not to be trusted: it has expired, or this system trusts none of its issuers"
                return OriginFailure(.untrusted, words)
            }
            if text.contains("Hostname") || text.contains("hostname") {
                return OriginFailure(.untrusted, "the certificate of \(host) is for another name")
            }
            if text.contains("WRONG_VERSION_NUMBER") || text.contains("HTTP_REQUEST") {
                let words = "\(host) does not speak TLS on that port; is it http, not https?"
                return OriginFailure(.untrusted, words, cause: .tls)
            }
            if ["certificate", "handshake", "SSL"].contains(where: text.contains) {
                let words = "no secure connection to \(host) can be made: it offers nothing that is spoken here"
                return OriginFailure(.untrusted, words, cause: .tls)
            }
            return OriginFailure(.interrupted, "the connection to \(host) broke")
        }
    }
#endif
