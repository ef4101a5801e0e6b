package import RepriseHTTP

/// Where else the same resources are. No I/O.
package enum Mirrors: Sendable, Hashable {
    /// Scheme, host, port and a path that is before every resource's; requests name the first one.
    case bases([OriginURL])
    /// Hosts with the same paths; requests name any of them.
    case hosts(HostGroup)

    package var count: Int {
        switch self {
        case .bases(let origins): origins.count
        case .hosts(let group): group.count
        }
    }

    /// The number of the place a URL names.
    package func home(of url: OriginURL) -> Int {
        switch self {
        case .bases: 0
        case .hosts(let group): group.index(of: url) ?? 0
        }
    }

    /// The same resource at another of the places; as it is where it is not at any of them.
    package func url(_ url: OriginURL, at index: Int) -> OriginURL {
        switch self {
        case .bases(let origins):
            guard index > 0 else { return url }
            let first = origins[0].base
            let text = url.description
            guard text.utf8.starts(with: (first + "/").utf8) else { return url }
            let rest = String(decoding: text.utf8.dropFirst(first.utf8.count), as: UTF8.self)
            return OriginURL(origins[index].base + rest) ?? url
        case .hosts(let group): return group.index(of: url) == nil ? url : group.url(url, at: index)
        }
    }

    /// The place itself, as listeners are told of it.
    package func place(_ index: Int, for url: OriginURL) -> OriginURL {
        if case .bases(let origins) = self { return origins[index] }
        return self.url(url, at: index)
    }
}
