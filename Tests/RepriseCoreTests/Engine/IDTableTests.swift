import RepriseTesting
import Testing

@testable import RepriseCore

@Suite struct IDTableTests {
    private struct Element: Identifiable, Equatable {
        let id: Int
        var text: String
    }

    @Test func `elements are edited, added and removed through their ids, and gone through in order`() {
        var table = IDTable<Element>()
        #expect(table.isEmpty && table[1] == nil)
        table[3] = Element(id: 3, text: "c")
        table[7] = Element(id: 7, text: "g")
        table[5] = Element(id: 5, text: "e")
        #expect(table.ids == [3, 5, 7] && table.map(\.text) == ["c", "e", "g"])
        table[5]?.text += "!"
        table[4]?.text = "nobody"
        #expect(table[5]?.text == "e!" && table[4] == nil && table.count == 3)
        table[5] = nil
        let removed = table.remove(3)
        let nothing = table.remove(3)
        #expect(removed?.text == "c" && nothing == nil)
        #expect(table.ids == [7] && table.map(\.id) == [7])
        table.removeAll()
        #expect(table.isEmpty && Array(table).isEmpty)
    }

    @Test func `it does what a dictionary does, in order`() {
        var random = SeededGenerator(seed: 7)
        var table = IDTable<Element>()
        var expected: [Int: Element] = [:]
        for step in 0..<5000 {
            let id = Int.random(in: 0..<12, using: &random)
            switch Int.random(in: 0..<4, using: &random) {
            case 0, 1:
                table[id] = Element(id: id, text: "\(step)")
                expected[id] = Element(id: id, text: "\(step)")
            case 2:
                table[id]?.text += "+"
                expected[id]?.text += "+"
            default:
                let removed = table.remove(id)
                #expect(removed == expected.removeValue(forKey: id))
            }
            #expect(Array(table) == expected.values.sorted { $0.id < $1.id })
        }
    }
}
