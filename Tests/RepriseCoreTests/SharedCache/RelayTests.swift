import RepriseCore
import RepriseHTTP
import Testing

/// What a cache changes in an answer's head.
@Suite("Relaying an answer")
struct RelayTests {
    @Test func `an answer that is used again carries its age, RFC 9111 §4 and §5.1`() {
        #expect(RelayedAnswer.fields(["Age": "3"], age: 12)["Age"] == "12")
        #expect(RelayedAnswer.fields([:], age: 0)["Age"] == "0")
    }

    @Test func `an answer that came for this request keeps the age it had, RFC 9111 §5.1`() {
        #expect(RelayedAnswer.fields(["Age": "3"], age: nil)["Age"] == "3")
        #expect(!RelayedAnswer.fields([:], age: nil).contains("Age"))
    }

    @Test func `an age past all reckoning is very long, RFC 9111 §1.2.2`() {
        #expect(RelayedAnswer.fields([:], age: .max)["Age"] == "2147483648")
        #expect(RelayedAnswer.fields([:], age: -1)["Age"] == "0")
    }

    @Test func `fields of one connection are dropped, RFC 9111 §3.1 and RFC 9110 §7.6.1`() {
        let fields: HTTPFields = ["Connection": "X-Hop", "X-Hop": "1", "Transfer-Encoding": "chunked", "X-End": "2"]
        #expect(RelayedAnswer.fields(fields, age: nil) == ["X-End": "2"])
    }

    @Test func `fields that are not known are passed on, RFC 9110 §5.1`() {
        #expect(RelayedAnswer.fields(["X-New": "1", "Warning": "199 - \"x\""], age: nil).lines.count == 2)
    }

    @Test func `this cache is the last one in Via, RFC 9110 §7.6.3`() {
        #expect(RelayedAnswer.fields([:], age: nil, pseudonym: "reprise")["Via"] == "1.1 reprise")
        #expect(RelayedAnswer.fields(["Via": "1.0 a"], age: nil, pseudonym: "b")["Via"] == "1.0 a, 1.1 b")
        #expect(RelayedAnswer.adding("b", to: [:], version: "2")["Via"] == "2 b")
    }

    @Test func `a message that has come through this cache is seen to, RFC 9110 §7.6.3`() {
        #expect(RelayedAnswer.hasPassed("edge", ["Via": "1.0 a, HTTP/1.1 EDGE (Reprise)"]))
        #expect(RelayedAnswer.hasPassed("edge", ["Via": "1.1 a", "via": "2 edge"]))
        #expect(!RelayedAnswer.hasPassed("edge", ["Via": "1.1 edge2, 1.1 a (edge)"]))
        #expect(!RelayedAnswer.hasPassed("edge", [:]))
    }
}
