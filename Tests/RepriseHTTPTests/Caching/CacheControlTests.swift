import RepriseHTTP
import Testing

/// An answer's `Cache-Control`, clause by clause.
@Suite("An answer's Cache-Control")
struct CacheControlTests {
    @Test func `names compare in any case, RFC 9111 §5.2`() {
        #expect(CacheControl("No-Store").noStore && CacheControl("PUBLIC").isPublic)
        #expect(CacheControl("Max-Age=5").maxAge == 5)
    }

    @Test func `order, white space and empty list elements mean nothing, RFC 9110 §5.6.1`() {
        let control = CacheControl("\t,no-store , max-age=60,,must-revalidate ,")
        #expect(control.noStore && control.mustRevalidate && control.maxAge == 60)
    }

    @Test func `several lines are one list, RFC 9110 §5.3`() {
        let fields: HTTPFields = ["Cache-Control": "max-age=60", "cache-control": "no-cache"]
        let control = CacheControl(fields["Cache-Control"])
        #expect(control.maxAge == 60 && control.noCache)
    }

    @Test func `an argument is a token or a quoted string alike, RFC 9111 §5.2`() {
        #expect(CacheControl("max-age=\"60\"").maxAge == 60)
        #expect(CacheControl("s-maxage=\"6\\0\"").sharedMaxAge == 60)
    }

    @Test func `a quoted string hides what looks like a directive, RFC 9110 §5.6.4`() {
        #expect(!CacheControl("ext=\"no-store, private\"").noStore)
        #expect(!CacheControl("ext=\"a\\\", no-store\"").noStore)
        #expect(CacheControl("private=\"a\", no-store").noStore)
    }

    @Test func `a quote that is never closed hides nothing, RFC 9111 §5.2`() {
        #expect(CacheControl("ext=\"a, no-store").noStore)
        #expect(CacheControl("ext=\"a\\\", no-store").noStore)
    }

    @Test func `a directive that is not known is passed over, RFC 9111 §5.2.3`() {
        let control = CacheControl("community=\"UCI\", x-max-age=5, nostore")
        #expect(control == CacheControl(nil) && control.maxAge == nil)
    }

    @Test func `no field is no directive`() { #expect(CacheControl(nil) == CacheControl("")) }

    @Test(arguments: ["max-age=-1", "max-age", "max-age=", "max-age=x", "max-age=1.5", "max-age=5 s", "max-age=0x5"])
    func `an age that is no number makes stale, RFC 9111 §4.2.1`(field: String) {
        #expect(CacheControl(field).maxAge == 0)
    }

    @Test func `white space around the equals sign makes stale, RFC 9111 §5.2`() {
        #expect(CacheControl("max-age= 5").maxAge == 0)
        #expect(CacheControl("max-age =5").maxAge == 5, "the name is plain all the same")
    }

    @Test func `the same age twice counts once, two ages make stale, RFC 9111 §4.2.1`() {
        #expect(CacheControl("max-age=60, max-age=60").maxAge == 60)
        #expect(CacheControl("max-age=60, max-age=30").maxAge == 0)
        #expect(CacheControl("s-maxage=30, s-maxage=x").sharedMaxAge == 0)
    }

    @Test func `a number too large to hold is the longest time, RFC 9111 §1.2.2`() {
        #expect(CacheControl("max-age=99999999999999999999").maxAge == 2_147_483_648)
        #expect(CacheControl("max-age=2147483649").maxAge == 2_147_483_648)
    }

    @Test func `leading zeros are a number, RFC 9111 §1.2.2`() { #expect(CacheControl("max-age=0060").maxAge == 60) }

    @Test func `no-cache with field names is about those, RFC 9111 §5.2.2.4`() {
        let control = CacheControl("no-cache=\"Set-Cookie, X-User\"")
        #expect(!control.noCache && control.noCacheFields == ["set-cookie", "x-user"])
        #expect(CacheControl("no-cache").noCacheFields.isEmpty)
        #expect(CacheControl("no-cache=\"a\", no-cache").noCache && CacheControl("no-cache=\"\"").noCache)
        #expect(CacheControl("no-cache=\" , \"").noCache)
    }

    @Test func `private with field names is about those, RFC 9111 §5.2.2.7`() {
        let control = CacheControl("private=\"X-User\"")
        #expect(!control.isPrivate && control.privateFields == ["x-user"])
        #expect(CacheControl("private=x-user").privateFields == ["x-user"], "the token form")
        #expect(CacheControl("private, private=\"a\"").isPrivate && CacheControl("private=").isPrivate)
    }

    private func targeted(_ field: String) -> CacheControl {
        CacheControl(answer: ["Cache-Control": "max-age=1, no-store", "CDN-Cache-Control": field])
    }

    @Test func `what is told to caches like this one goes before what is told to all, RFC 9213 §2.2`() {
        #expect(targeted("max-age=60").maxAge == 60 && !targeted("max-age=60").noStore)
        #expect(targeted("no-cache;a=1, max-age=60;b").noCache && targeted("max-age=60").isTargeted)
        #expect(targeted("private=?0, s-maxage=7").sharedMaxAge == 7 && !targeted("private=?0").isPrivate)
        #expect(targeted("private=\"a\", x=\"max-age\"").privateFields == ["a"])
        #expect(targeted("max-age=60, max-age=7").maxAge == 7, "of several the last")
        #expect(targeted("ext=(1 \"a\";b token), a=:aGk=:, b=@12, c=tok/en, max-age=5").maxAge == 5)
    }

    @Test(arguments: [
        "", " ", "max-age=60,", "Max-Age=60", "max-age = 60", "max-age=60 no-store", "max-age=", "max-age=-", "a=\"x",
        "a=\"\\x\"", "a=\"é\"", "a=(1", "a=(1,2)", "a=?2", "a=:!:", "a;=1", "a=1234567890123456", "a=1.", "a=1.1234",
        "ä",
        ",max-age=60", "a=1;B", "max-age=1.5", "max-age=\"60\"", "max-age", "max-age=-1", "s-maxage=x", "no-store=1",
        "public=\"\"", "max-age=60, no-cache=2", "private=a",
    ])
    func `what cannot be read is told to nobody, RFC 9213 §2.1`(field: String) {
        #expect(targeted(field) == CacheControl("max-age=1, no-store"))
    }

    @Test func `no-store with an argument is still no-store, RFC 9111 §5.2`() {
        #expect(CacheControl("no-store=please").noStore)
    }

    @Test func `must-revalidate and proxy-revalidate are two things, RFC 9111 §5.2.2.2 and §5.2.2.8`() {
        #expect(CacheControl("must-revalidate").mustRevalidate && !CacheControl("must-revalidate").proxyRevalidate)
        #expect(CacheControl("proxy-revalidate").proxyRevalidate && !CacheControl("proxy-revalidate").mustRevalidate)
    }

    @Test func `must-understand is read, RFC 9111 §5.2.2.3`() {
        #expect(CacheControl("must-understand").mustUnderstand)
    }

    @Test func `no-transform is read, RFC 9111 §5.2.2.6`() { #expect(CacheControl("no-transform").noTransform) }

    @Test func `immutable is read, RFC 8246 §2`() { #expect(CacheControl("max-age=9, immutable").isImmutable) }

    @Test func `stale-while-revalidate is seconds, 0 where unreadable, RFC 5861 §3`() {
        #expect(CacheControl("stale-while-revalidate=30").staleWhileRevalidate == 30)
        #expect(CacheControl("stale-while-revalidate").staleWhileRevalidate == 0)
    }

    @Test func `stale-if-error is seconds, 0 where unreadable, RFC 5861 §4`() {
        #expect(CacheControl("stale-if-error=30").staleIfError == 30)
        #expect(CacheControl("stale-if-error=soon").staleIfError == 0)
    }
}

/// A request's `Cache-Control`, clause by clause.
@Suite("A request's Cache-Control")
struct RequestCacheControlTests {
    private func read(_ field: String) -> RequestCacheControl { RequestCacheControl(["Cache-Control": field]) }

    @Test func `max-age is seconds, 0 where unreadable, RFC 9111 §5.2.1.1`() {
        #expect(read("max-age=10").maxAge == 10 && read("max-age=x").maxAge == 0 && read("").maxAge == nil)
    }

    @Test func `max-stale without a number means however stale, RFC 9111 §5.2.1.2`() {
        #expect(read("max-stale").maxStale == CacheDirectives.longest)
        #expect(read("max-stale=10").maxStale == 10)
        #expect(read("max-stale=x").maxStale == 0, "an unreadable tolerance is none")
    }

    @Test func `min-fresh that cannot be read asks the origin, RFC 9111 §5.2.1.3`() {
        #expect(read("min-fresh=10").minFresh == 10)
        #expect(read("min-fresh=x").minFresh == CacheDirectives.longest)
    }

    @Test func `no-cache is read, RFC 9111 §5.2.1.4`() { #expect(read("no-cache").noCache) }

    @Test func `no-store is read, RFC 9111 §5.2.1.5`() { #expect(read("no-store").noStore) }

    @Test func `no-transform is read, RFC 9111 §5.2.1.6`() { #expect(read("no-transform").noTransform) }

    @Test func `only-if-cached is read, RFC 9111 §5.2.1.7`() { #expect(read("only-if-cached").onlyIfCached) }

    @Test func `stale-if-error is read, RFC 5861 §4`() { #expect(read("stale-if-error=9").staleIfError == 9) }

    @Test func `Pragma no-cache counts where there is no Cache-Control, RFC 9111 §5.4`() {
        #expect(RequestCacheControl(["Pragma": "No-Cache"]).noCache)
        #expect(RequestCacheControl(["Pragma": "x, no-cache"]).noCache)
        #expect(!RequestCacheControl(["Pragma": "x"]).noCache)
    }

    @Test func `Pragma is passed over beside Cache-Control, RFC 9111 §5.4`() {
        #expect(!RequestCacheControl(["Pragma": "no-cache", "Cache-Control": "max-stale"]).noCache)
    }

    /// Tried again at every quote this takes minutes.
    @Test func `a string that never ends is read once`() {
        let field = "\"" + String(repeating: "\\\"", count: 200_000) + ", no-store"
        let directives = CacheDirectives(field)
        #expect(directives.contains("no-store"))
    }
}
