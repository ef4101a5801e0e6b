import RepriseCore
import RepriseHTTP
import Testing

/// How long an origin that failed is left alone.
@Suite struct CircuitBreakerTests {
    private let start: Int64 = 100 * second

    @Test func `one that cannot be reached is left alone, then asked by one request, each time twice as long`() {
        var breaker = CircuitBreaker()
        var now = start
        for pause in [1, 2, 4, 8, 16, 32, 60, 60] as [Int64] {
            #expect(breaker.isReady(now))
            breaker.asked(now: now)
            breaker.note(.unreachable, now: now)
            #expect(!breaker.isReady(now + pause * second - 1))
            now += pause * second
        }
        #expect(breaker.isReady(now))
        breaker.asked(now: now)
        #expect(!breaker.isReady(now + second), "while one request finds out, others do not wait for it")
        breaker.note(.answered, now: now + second)
        #expect(breaker.isReady(now + second))
        breaker.note(.unreachable, now: now + second)
        #expect(breaker.isReady(now + 2 * second), "a good answer forgives")
    }

    @Test func `requests that were under way together fail as one`() {
        var breaker = CircuitBreaker()
        for _ in 0..<20 { breaker.note(.unreachable, now: start) }
        #expect(breaker.isReady(start + second))
    }

    @Test func `a trial that nobody reports of ends, and another follows`() {
        var breaker = CircuitBreaker()
        breaker.note(.unreachable, now: start)
        breaker.asked(now: start + second)
        #expect(!breaker.isReady(start + 2 * second - 1))
        #expect(breaker.isReady(start + 2 * second))
    }

    @Test func `answers of trouble count when they come in a row`() {
        var breaker = CircuitBreaker()
        for outcome in [.troubled, .troubled, .answered, .troubled, .troubled] as [CircuitBreaker.Outcome] {
            breaker.note(outcome, now: start)
            #expect(breaker.isReady(start))
        }
        breaker.note(.troubled, now: start)
        #expect(!breaker.isReady(start))
    }

    @Test(arguments: [(500, true), (502, true), (503, true), (504, true), (522, true), (501, false), (505, false)])
    func `a status of 5xx is trouble unless it is about the request`(status: Int, isTrouble: Bool) {
        #expect((CircuitBreaker.Outcome(status: status) == .troubled) == isTrouble)
    }

    @Test(arguments: [200, 206, 304, 401, 403, 404, 410, 416, 429]) func `others are answers`(status: Int) {
        #expect(CircuitBreaker.Outcome(status: status) == .answered)
    }
}

/// Which of several origins is asked.
@Suite struct OriginSelectorTests {
    private let start: Int64 = 100 * second

    private func candidates(failed: [Int64?], heldOff: Set<Int> = []) -> [OriginSelector.Candidate] {
        failed.enumerated().map { index, time in
            var breaker = CircuitBreaker()
            if let time { breaker.note(.unreachable, now: time) }
            return .init(OriginURL("http://\(index).test/a")!, breaker: breaker, isHeldOff: heldOff.contains(index))
        }
    }

    @Test func `all are asked as they are preferred while all are well, the one that is named first`() {
        let well = candidates(failed: [nil, nil, nil])
        #expect(OriginSelector(well).order(now: start) == [0, 1, 2])
        #expect(OriginSelector(well, home: 1).order(now: start) == [1, 0, 2])
    }

    @Test
    func `one that failed is asked after those that are well, one that asked to be left alone only where all did`() {
        #expect(OriginSelector(candidates(failed: [start, nil, nil])).order(now: start) == [1, 2, 0])
        #expect(OriginSelector(candidates(failed: [nil, nil], heldOff: [0])).order(now: start) == [1])
        #expect(OriginSelector(candidates(failed: [nil, start], heldOff: [0])).order(now: start) == [1])
        #expect(OriginSelector(candidates(failed: [start, nil], heldOff: [0, 1])).order(now: start) == [1, 0])
        #expect(OriginSelector(candidates(failed: [start, nil])).order(now: start + second) == [0, 1])
    }

    @Test func `of those that are not well the one left alone longest comes first`() {
        let failed = candidates(failed: [start + 1, start, start + 3])
        #expect(OriginSelector(failed).order(now: start + 10) == [1, 0, 2])
        let heldOff = candidates(failed: [start + 1, start, start + 3], heldOff: [1])
        #expect(OriginSelector(heldOff).order(now: start + 10) == [0, 2])
    }

    @Test func `each is asked once`() {
        let selector = OriginSelector(candidates(failed: [nil, nil]))
        #expect(selector.next(besides: [], now: start)?.place == 0)
        #expect(selector.next(besides: [0], now: start)?.location.host == "1.test")
        #expect(selector.next(besides: [0, 1], now: start) == nil)
        let heldOff = OriginSelector(candidates(failed: [nil, nil], heldOff: [0, 1]))
        #expect(heldOff.next(besides: [], now: start)?.place == 0)
        #expect(heldOff.next(besides: [0], now: start) == nil)
    }
}

/// Where else a resource is.
@Suite struct MirrorsTests {
    private func url(_ text: String) -> OriginURL { OriginURL(text)! }

    @Test func `what is below the first base is below all of them, and nothing else is`() {
        let mirrors = [Mirrors.bases([url("http://a.test/x"), url("https://b.test:8443/y/z")])]
        let places = mirrors.places(of: url("http://a.test/x/1.mp3?q=%2F"))
        #expect(places?.home == 0)
        #expect(
            places?.locations.map(\.description) == [
                "http://a.test/x/1.mp3?q=%2F", "https://b.test:8443/y/z/1.mp3?q=%2F",
            ])
        for other in ["http://a.test/xy/1.mp3", "https://b.test:8443/y/z/1.mp3", "http://c.test/x/1.mp3"] {
            #expect(mirrors.places(of: url(other)) == nil)
        }
    }

    @Test func `the host that is named is preferred`() {
        let mirrors = [Mirrors.hosts(HostGroup(["a.test", "b.test:81"])!)]
        let places = mirrors.places(of: url("http://b.test:81/1.mp3"))
        #expect(places?.home == 1)
        #expect(places?.locations.map(\.description) == ["http://a.test/1.mp3", "http://b.test:81/1.mp3"])
        #expect(mirrors.places(of: url("http://b.test/1.mp3")) == nil)
    }
}
