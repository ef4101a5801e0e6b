import RepriseHTTP
import Testing

@Suite("Vary")
struct VaryFieldTests {
    private func selection(_ vary: String, _ request: HTTPFields) -> String? {
        VaryField(["Vary": vary]).selection(of: request)
    }

    @Test func `an answer without it is the same for all requests, RFC 9111 §4.1`() {
        #expect(VaryField([:]).isEmpty && VaryField(["Vary": ""]).isEmpty && VaryField(["Vary": " ,"]).isEmpty)
    }

    @Test func `a star matches no request, alone or in a list, RFC 9111 §4.1`() {
        #expect(VaryField(["Vary": "*"]) == .any)
        #expect(VaryField(["Vary": "Accept, *"]) == .any)
        #expect(VaryField(["Vary": "Accept", "vary": "*"]) == .any)
        #expect(selection("*", [:]) == nil)
    }

    @Test func `names compare in any case and any order, RFC 9110 §12.5.5`() {
        #expect(VaryField(["Vary": "B, a"]) == VaryField(["Vary": "A", "vary": "b, B"]))
    }

    @Test func `requests match where every named field does, RFC 9111 §4.1`() {
        let vary = "Accept-Language, Accept"
        #expect(
            selection(vary, ["Accept": "x", "Accept-Language": "de"])
                == selection(vary, ["accept-language": "de", "ACCEPT": "x"]))
        #expect(selection(vary, ["Accept": "x"]) != selection(vary, ["Accept": "x", "Accept-Language": "de"]))
    }

    @Test func `a field that is not named does not count, RFC 9111 §4.1`() {
        #expect(selection("Accept", ["Accept": "x", "User-Agent": "a"]) == selection("Accept", ["Accept": "x"]))
    }

    @Test func `white space around commas does not count, RFC 9111 §4.1`() {
        #expect(selection("Accept", ["Accept": "a ,\tb"]) == selection("Accept", ["Accept": "a,b"]))
    }

    @Test func `one line or several are the same, RFC 9111 §4.1`() {
        #expect(selection("Accept", ["Accept": "a", "accept": "b"]) == selection("Accept", ["Accept": "a, b"]))
    }

    @Test func `the order of values counts, RFC 9111 §4.1`() {
        #expect(selection("Accept", ["Accept": "a, b"]) != selection("Accept", ["Accept": "b, a"]))
    }

    @Test func `a missing field matches only a missing one, RFC 9111 §4.1`() {
        #expect(selection("Accept", [:]) == selection("Accept", ["X": "1"]))
        #expect(selection("Accept", [:]) != selection("Accept", ["Accept": ""]))
    }

    @Test func `values cannot be made to look like other fields'`() {
        #expect(selection("A, B", ["A": "1\nb:2"]) != selection("A, B", ["A": "1", "B": "2"]))
    }
}
