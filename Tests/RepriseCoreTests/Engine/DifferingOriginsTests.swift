import Testing

@testable import RepriseCore

@Suite struct DifferingOriginsTests {
    @Test func `only an origin whose bytes were shown to be the same is known for its own validators`() {
        var origins = DifferingOrigins()
        #expect(!origins.isLoose("http://a"))
        for _ in 0..<2 { origins.add("http://a") }
        #expect(origins.isLoose("http://a") && !origins.isLoose("http://b") && !origins.isLoose("https://a"))
    }
}
