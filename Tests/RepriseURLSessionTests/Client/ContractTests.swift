import RepriseTesting
import RepriseURLSession
import Testing

@Suite struct ContractTests {
    @Test(arguments: OriginClientContract.Rule.allCases)
    func `the URLSession client keeps the contract on real sockets, inv23`(rule: OriginClientContract.Rule)
        async throws
    {
        let origin = ScriptedOrigin()
        let server = try SocketOrigin(origin)
        let client = URLSessionOriginClient()
        let contract = OriginClientContract(
            client: client, origin: origin, base: server.base,
            unreachable: "http://127.0.0.1:\(try LoopbackPort.unused())/x", connections: { server.accepted })
        let violation = await violation(contract, rule)
        #expect(violation == nil)
        client.close()
        server.stop()
    }

    private func violation(_ contract: OriginClientContract, _ rule: OriginClientContract.Rule) async -> String? {
        do {
            try await contract.check(rule)
            return nil
        } catch {
            return "\(error)"
        }
    }
}
