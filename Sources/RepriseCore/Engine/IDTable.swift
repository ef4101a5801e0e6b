/// The few readers, transfers or representations of an entry, in order of their ids.
///
/// An array instead of a dictionary: there is one element or two nearly always, and whatever goes through all of them does so in
/// the order they were made, so that a run can be repeated.
struct IDTable<Element: Identifiable>: Sequence where Element.ID: Comparable {
    /// In ascending order.
    private(set) var ids: [Element.ID] = []
    /// Beside `ids`.
    private var elements: [Element] = []

    var isEmpty: Bool { ids.isEmpty }
    var count: Int { ids.count }

    /// The element of an id; `nil` where there is none. Setting `nil` removes it, setting another adds it.
    subscript(id: Element.ID) -> Element? {
        get {
            guard let index = index(of: id) else { return nil }
            return elements[index]
        }
        set {
            if let newValue { insert(newValue) } else { _ = remove(id) }
        }
    }

    /// Takes an element out.
    mutating func remove(_ id: Element.ID) -> Element? {
        guard let index = index(of: id) else { return nil }
        ids.remove(at: index)
        return elements.remove(at: index)
    }

    mutating func removeAll() {
        ids = []
        elements = []
    }

    func makeIterator() -> IndexingIterator<[Element]> { elements.makeIterator() }

    private func index(of id: Element.ID) -> Int? {
        var index = 0
        while index < ids.count {
            if ids[index] == id { return index }
            index += 1
        }
        return nil
    }

    private mutating func insert(_ element: Element) {
        if let index = index(of: element.id) { return elements[index] = element }
        // At the end nearly always: new ids are greater than all before.
        let index = ids.lastIndex { $0 < element.id }.map { $0 + 1 } ?? 0
        ids.insert(element.id, at: index)
        elements.insert(element, at: index)
    }
}
