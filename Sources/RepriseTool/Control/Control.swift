#if Server
    import Foundation
    import RepriseAsyncHTTPClient
    import RepriseCore
    import RepriseHTTP
    import ReprisePlatform
    import RepriseProxy
    import RepriseStorage

    /// Whoever may change the store: this process, or the server that holds it. Both are asked the same.
    enum Control: Sendable {
        case own(AdminService)
        case server(ControlClient)

        func send(_ request: AdminRequest) async throws -> AdminAnswer {
            let answer: AdminAnswer
            switch self {
            case .own(let service): answer = await service.answer(request)
            case .server(let client): answer = try await client.send(request)
            }
            guard answer.status < 300 else { throw Control.failure(answer) }
            return answer
        }

        func send<Report: Decodable>(_ request: AdminRequest, as: Report.Type) async throws -> Report {
            try JSONDecoder().decode(Report.self, from: Data(try await send(request).body))
        }

        private static func failure(_ answer: AdminAnswer) -> Failure {
            var text = String(decoding: answer.body, as: UTF8.self)
            if text.hasSuffix("\n") { text.removeLast() }
            switch answer.status {
            case 400: return Failure(64, text)
            case 404: return Failure(69, text)
            default: return Failure(74, text)
            }
        }
    }

    extension StoreOptions {
        /// Who holds the store.
        enum Holder {
            case us(Store)
            /// This process, and the store is set to be in memory, of so many bytes.
            case memory(Int64)
            case server(ControlClient)
        }

        /// Takes the store, or finds the server that has it.
        /// - Throws: Where another program has it that cannot be asked.
        func hold() throws -> Holder {
            do {
                guard let memory = try settings().memory() else { return .us(try open()) }
                try checkUnused()
                return .memory(memory)
            } catch let failure as Failure where failure.code == Failure.inUse {
                // The lock, not a file that a killed server may have left, says that there is one.
                if let file = try controlFile() { return .server(ControlClient(file: file)) }
                throw failure
            }
        }

        /// The server that holds the store; `nil` where none answers. Does not touch the store's lock.
        func runningServer() async throws -> ControlClient? {
            // One that was killed leaves its file behind.
            guard let file = try controlFile(), SystemCalls.isRunning(file.process) else { return nil }
            let client = ControlClient(file: file)
            return await caught { _ = try await client.send(.health, seconds: 5) } == nil ? client : nil
        }

        /// The server of this directory that has its store in memory: the directory tells nothing of that; `nil` where there is none.
        func memoryServer() async throws -> ControlClient? {
            guard let file = try controlFile(), file.isInMemory == true, SystemCalls.isRunning(file.process) else {
                return nil
            }
            guard let server = try await runningServer() else {
                throw Failure(
                    Failure.inUse,
                    "the server of \(try root), process \(file.process), has its store in memory and does not answer; try again"
                )
            }
            return server
        }

        private func controlFile() throws -> ControlFile? {
            let root = try root
            do throws(FileError) { return try ControlFile.read(root) } catch {
                throw Failure(74, "the server's control file in \(root) cannot be read: \(error)")
            }
        }

        /// Opens the store for looking only: it may be in use.
        func openForReading() async throws -> Store {
            if try await memoryServer() != nil {
                throw Failure(
                    Failure.inUse,
                    "the server of \(try root) has its store in memory, which this command cannot read; ls, stats, top, pin, "
                        + "rm, fetch, import, repair and gc ask the server")
            }
            return try opened(.readOnly).mapError { Failure($0) }.get()
        }

        /// Runs `work` with whoever may change the store.
        /// - Parameter upstreams: Who may be asked, where it is this process that asks.
        func withControl(
            _ upstreams: UpstreamOptions? = nil, _ work: (Control) async throws -> Void
        ) async throws {
            switch try hold() {
            case .server(let server): try await work(.server(server))
            case .memory:
                throw Failure(
                    69,
                    "the store is set to be in memory (`memory`), and no server runs in whose memory it is; start `reprise serve`, or "
                        + "take that setting away")
            case .us(let store):
                var rules = try configuration()
                // Who asks says how many go on at a time.
                rules.prefetching.parallel = .max
                let client = try upstreams?.makeClient(self) ?? AsyncHTTPOriginClient()
                let cache = MediaCache(store: store, client: client, configuration: rules)
                let service = AdminService(cache)
                let failure = await caught { try await work(.own(service)) }
                service.cancelPrefetches()
                await cache.close()
                try await client.shutdown()
                if let failure { throw failure }
            }
        }
    }

    /// The error that `work` ends with; `nil` where it ends well.
    func caught(_ work: () async throws -> Void) async -> (any Error)? {
        do { try await work() } catch { return error }
        return nil
    }
#endif
