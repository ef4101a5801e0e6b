import RepriseCore
import RepriseHTTP
import Testing

/// Asking whether what is stored is still good.
@Suite("Confirming a stored answer")
struct ConfirmationTests {
    private static let date = "Sun, 06 Nov 1994 08:49:37 GMT"
    private func tagged(_ tag: String, _ date: String? = nil) -> Validator {
        Validator(entityTag: EntityTag(tag), lastModified: date)
    }

    @Test func `is asked by the entity tag, RFC 9111 §4.3.1`() {
        #expect(Confirmation.conditions([tagged("\"a\"")]) == ["If-None-Match": "\"a\""])
        #expect(Confirmation.conditions([tagged("W/\"a\"")]) == ["If-None-Match": "W/\"a\""])
    }

    @Test func `is asked by the date as well, RFC 9111 §4.3.1`() {
        let fields = Confirmation.conditions([tagged("\"a\"", Self.date)])
        #expect(fields == ["If-None-Match": "\"a\"", "If-Modified-Since": Self.date])
        #expect(Confirmation.conditions([Validator(lastModified: Self.date)]) == ["If-Modified-Since": Self.date])
    }

    @Test func `names every stored answer's tag, RFC 9111 §4.3.1`() {
        let fields = Confirmation.conditions([tagged("\"a\"", Self.date), tagged("\"b\""), tagged("\"a\"")])
        #expect(fields == ["If-None-Match": "\"a\", \"b\""])
    }

    @Test func `has no condition where there is nothing to compare by, RFC 9111 §4.3.1`() {
        #expect(Confirmation.conditions([Validator()]) == [:] && Confirmation.conditions([]) == [:])
    }

    @Test func `a 304 with a strong tag means all answers with that tag, RFC 9111 §4.3.4`() {
        let stored = [tagged("\"a\""), tagged("\"b\""), tagged("\"a\"")]
        #expect(Confirmation.confirmed(stored, by: ["ETag": "\"a\""]) == [0, 2])
    }

    @Test func `a 304 with a weak tag means the newest that matches, RFC 9111 §4.3.4`() {
        let stored = [tagged("\"b\""), tagged("W/\"a\""), tagged("\"a\"")]
        #expect(Confirmation.confirmed(stored, by: ["ETag": "W/\"a\""]) == [1])
    }

    @Test func `a 304 with a date means the newest of that date, RFC 9111 §4.3.4`() {
        let stored = [Validator(lastModified: Self.date), Validator(lastModified: Self.date)]
        #expect(Confirmation.confirmed(stored, by: ["Last-Modified": Self.date]) == [0])
    }

    @Test func `a 304 that names nothing means the only one that was asked about, RFC 9111 §4.3.4`() {
        #expect(Confirmation.confirmed([Validator()], by: [:]) == [0])
        #expect(Confirmation.confirmed([tagged("\"a\"")], by: [:]) == [0])
        #expect(Confirmation.confirmed([tagged("\"a\""), tagged("\"b\"")], by: [:]) == [])
    }

    @Test func `a 304 with a tag nobody has confirms nothing, RFC 9111 §4.3.4`() {
        #expect(Confirmation.confirmed([tagged("\"a\"")], by: ["ETag": "\"c\""]) == [])
        #expect(
            Confirmation.confirmed([tagged("W/\"a\"")], by: ["ETag": "\"a\""]) == [], "a strong one wants a strong one")
    }

    @Test func `a 304 replaces the fields it brings, RFC 9111 §3.2`() {
        let stored: HTTPFields = ["Cache-Control": "max-age=1", "X-A": "1", "X-B": "2"]
        let merged = Confirmation.freshened(stored, by: ["cache-control": "max-age=9", "X-A": "3", "X-A": "4"])
        #expect(merged["Cache-Control"] == "max-age=9" && merged["X-A"] == "3, 4" && merged["X-B"] == "2")
    }

    @Test(arguments: ["Content-Length", "Content-Encoding", "Content-Type", "Content-Range", "ETag", "Last-Modified"])
    func `a 304 does not change how the stored bytes are read, RFC 9111 §3.2`(name: String) {
        let merged = Confirmation.freshened([name: "old"], by: [name: "new"])
        #expect(merged[name] == "old" && !Confirmation.freshened([:], by: [name: "new"]).contains(name))
    }

    @Test func `a 304's connection fields are not stored, RFC 9111 §3.1`() {
        let answer: HTTPFields = ["Connection": "close, X-Hop", "X-Hop": "1", "Keep-Alive": "5", "Via": "1.1 a"]
        #expect(Confirmation.freshened([:], by: answer) == ["Via": "1.1 a"])
    }

    @Test func `a confirmed answer is as old as its confirmation, RFC 9111 §4.3.4`() {
        let stored: HTTPFields = ["Age": "500", "Date": Moment.date(-1_000), "Cache-Control": "max-age=600"]
        let bare = Confirmation.freshened(stored, by: [:])
        #expect(Moment.stored(bare).age(now: Moment.now) == 0)
        let dated = Confirmation.freshened(stored, by: ["Date": Moment.date(-5), "Age": "7"])
        #expect(Moment.stored(dated).age(now: Moment.now) == 7)
    }
}
