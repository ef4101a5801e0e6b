/// The few readers, transfers or representations of an entry, in order of their ids.
///
/// An array instead of a dictionary: there is one element or two nearly always, and whatever goes through all of them does so in
/// the order they were made, so that a run can be repeated.
struct IDTable<Element: Identifiable>: Sequence where Element.ID: Comparable {
    private var elements: [Element] = []

    var isEmpty: Bool { elements.isEmpty }
    var count: Int { elements.count }
    /// In ascending order.
    var ids: [Element.ID] { elements.map(\.id) }

    /// The element of an id; `nil` where there is none. Setting `nil` removes it, setting another adds it.
    subscript(id: Element.ID) -> Element? {
        get { index(of: id).map { elements[$0] } }
        set {
            if let newValue {
                insert(newValue)
            } else if let index = index(of: id) {
                elements.remove(at: index)
            }
        }
    }

    /// Takes an element out.
    mutating func remove(_ id: Element.ID) -> Element? { index(of: id).map { elements.remove(at: $0) } }

    mutating func removeAll() { elements = [] }

    func makeIterator() -> IndexingIterator<[Element]> { elements.makeIterator() }

    func contains(where isSuch: (Element) throws -> Bool) rethrows -> Bool { try elements.contains(where: isSuch) }

    private func index(of id: Element.ID) -> Int? {
        for index in elements.indices where elements[index].id == id { return index }
        return nil
    }

    private mutating func insert(_ element: Element) {
        // At the end nearly always: new ids are greater than all before.
        let index = elements.lastIndex { $0.id <= element.id }
        if let index, elements[index].id == element.id {
            elements[index] = element
        } else {
            elements.insert(element, at: index.map { $0 + 1 } ?? 0)
        }
    }
}
