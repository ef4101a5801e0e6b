import RepriseProxy
import Testing

/// Which connection to the listener for administrators gives way.
@Suite struct AdminConnectionsTests {
    private final class Connection {}
    private let connections = (0..<5).map { _ in Connection() }

    private func id(_ number: Int) -> ObjectIdentifier { ObjectIdentifier(connections[number]) }

    @Test func `the oldest that has not shown the secret gives way`() {
        var table = AdminConnections(limit: 3)
        for number in 0..<3 { #expect(table.admit(id(number)) == .admitted) }
        table.allow(id(0))
        #expect(table.admit(id(3)) == .inPlaceOf(id(1)))
        #expect(table.admit(id(4)) == .inPlaceOf(id(2)))
    }

    @Test func `one that has shown the secret stays, and one that ends leaves its place`() {
        var table = AdminConnections(limit: 2)
        for number in 0..<2 {
            #expect(table.admit(id(number)) == .admitted)
            table.allow(id(number))
        }
        #expect(table.admit(id(2)) == .refused)
        table.leave(id(0))
        #expect(table.admit(id(2)) == .admitted)
    }
}
