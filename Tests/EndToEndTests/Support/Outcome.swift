#if Server
    /// How work ended, kept until what it used has been put away.
    struct Outcome {
        private let error: (any Error)?

        init(_ work: () async throws -> Void) async {
            do {
                try await work()
                error = nil
            } catch { self.error = error }
        }

        func get() throws { if let error { throw error } }
    }
#endif
