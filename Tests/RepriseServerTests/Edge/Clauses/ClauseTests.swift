#if Server
    import Foundation
    import RepriseHTTP
    import RepriseProxy
    import Testing

    /// The rules of HTTP that a shared cache in front of an origin keeps, each over real sockets; docs/http.md has them as rows.
    @Suite struct ClauseTests {
        @Test(arguments: Clause.all) func `is kept`(clause: Clause) async throws {
            let origin = ClauseOrigin()
            try await origin.start()
            try await ProxyFixture.run(edge: "node-1", origin: OriginURL(origin.base)) { fixture in
                for (number, step) in clause.steps.enumerated() {
                    origin.expect(step.scripted(number))
                    let client = try await fixture.connect()
                    let fields = ClauseOrigin.dated(step.fields).lines.map { ($0.name, $0.value) }
                    try await client.request("/clause" + step.query, method: step.method, fields)
                    let answer = try await client.readAnswer(isBodyless: step.method == "HEAD")
                    await client.close()
                    await fixture.waitUntilQuiet()
                    judge(answer, origin.requests, clause, number)
                }
            }
            await origin.stop()
        }

        @Test func `docs/http.md has each as a row, and no other`() throws {
            let page = URL(fileURLWithPath: #filePath).appendingPathComponent("../../../../../docs/http.md")
            let rows = try String(contentsOf: page.standardizedFileURL, encoding: .utf8).split(separator: "\n")
            let clauses = Set(Clause.all.map { "| \($0.source) | \($0.rule) |" })
            let written = Set(rows.filter { $0.hasPrefix("| RFC ") }.map(String.init))
            #expect(written.symmetricDifference(clauses).isEmpty)
        }

        private func judge(_ answer: RawAnswer, _ requests: [ClauseOrigin.Request], _ clause: Clause, _ number: Int) {
            let step = clause.steps[number]
            let found =
                "step \(number): \(answer.status) \(answer.text.prefix(60)), \(requests.map(\.fields.lines)), \(answer.fields.lines)"
            func body(_ number: Int) -> String { clause.steps[number].scripted(number).body ?? "" }
            func expect(_ status: Int, _ text: String, isAsked: Bool) {
                #expect(answer.status == status, "\(found)")
                if step.method != "HEAD", status != 204, status != 304 { #expect(answer.text == text, "\(found)") }
                #expect(requests.isEmpty == !isAsked, "\(found)")
            }
            switch step.outcome {
            case .passed: expect(step.answer.status, body(number), isAsked: true)
            case .stored(let earlier):
                expect(clause.steps[earlier].answer.status, body(earlier), isAsked: false)
            case .confirmed(let earlier):
                expect(clause.steps[earlier].answer.status, body(earlier), isAsked: true)
            case .part(let earlier, let range):
                let part = Array(body(earlier).utf8)[range]
                expect(206, String(decoding: part, as: UTF8.self), isAsked: false)
            case .own(let status):
                #expect(answer.status == status, "\(found)")
                #expect(requests.isEmpty, "\(found)")
            case .failed(let status):
                #expect(answer.status == status, "\(found)")
                #expect(!requests.isEmpty, "\(found)")
            }
            if let method = step.askedBy { #expect(requests.map(\.method) == [method], "\(found)") }
            for (name, value) in step.told { #expect(answer.fields[name] == value, "\(name), \(found)") }
            for (name, value) in step.asked { #expect(requests.first?.fields[name] == value, "\(name), \(found)") }
        }
    }

    extension Clause.Step {
        /// What the origin answers: a body of each step's own where it has none.
        fileprivate func scripted(_ number: Int) -> OriginAnswer {
            var scripted = answer
            if scripted.body == nil { scripted.body = "body of step \(number), and so that it is a little longer this" }
            return scripted
        }
    }
#endif
