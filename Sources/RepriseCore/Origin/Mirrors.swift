package import RepriseHTTP

/// Where else the same resources are. No I/O.
package enum Mirrors: Sendable, Hashable {
    /// Scheme, host, port and a path that is before every resource's; requests name the first one.
    case bases([OriginURL])
    /// Hosts with the same paths; requests name any of them.
    case hosts(HostGroup)

    /// Where a resource is, and the number of the place its URL names; `nil` where it is at none of them.
    package func places(of url: OriginURL) -> (locations: [OriginURL], home: Int)? {
        switch self {
        case .bases(let origins):
            guard let first = origins.first?.base else { return nil }
            let text = url.description
            guard text.utf8.starts(with: (first + "/").utf8) else { return nil }
            let rest = String(decoding: text.utf8.dropFirst(first.utf8.count), as: UTF8.self)
            return ([url] + origins.dropFirst().map { OriginURL($0.base + rest) ?? url }, 0)
        case .hosts(let group):
            guard let home = group.index(of: url) else { return nil }
            return ((0..<group.count).map { group.url(url, at: $0) }, home)
        }
    }
}

extension [Mirrors] {
    /// Where a resource is, and the number of the place its URL names; `nil` where that is the only one.
    package func places(of url: OriginURL) -> (locations: [OriginURL], home: Int)? {
        for mirrors in self { if let places = mirrors.places(of: url) { return places } }
        return nil
    }
}
