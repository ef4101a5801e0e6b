/// Upstreams that a rule is about: an address or a block of them, a host, all hosts below a name, or everything.
public struct UpstreamPattern: Hashable, Sendable, CustomStringConvertible {
    package enum Kind: Hashable, Sendable {
        case block(AddressBlock)
        case host(String)
        /// All hosts below this name, not the name itself.
        case suffix(String)
        case everything
    }

    package let kind: Kind

    package init(_ kind: Kind) { self.kind = kind }

    /// Reads `192.0.2.1`, `10.0.0.0/8`, `fd00::/8`, `media.example`, `*.example` or `*`; `nil` for anything else.
    public init?(_ text: String) {
        if text == "*" {
            kind = .everything
        } else if let block = AddressBlock(text) {
            kind = .block(block)
        } else {
            let parent = text.without(prefix: "*.").map { String($0) }
            let name = UpstreamPattern.plainHost(parent ?? text)
            let isName = name.unicodeScalars.allSatisfy { scalar in
                !scalar.properties.isWhitespace && !"*/:@?#[],\\".unicodeScalars.contains(scalar)
            }
            guard !name.isEmpty, isName else { return nil }
            kind = parent != nil ? .suffix(name) : .host(name)
        }
    }

    /// As it is written.
    public var description: String {
        switch kind {
        case .block(let block): "\(block)"
        case .host(let name): name
        case .suffix(let name): "*." + name
        case .everything: "*"
        }
    }

    /// How narrowly it names what it names; the narrower of two rules decides.
    package var precision: Int {
        switch kind {
        case .everything: -1
        case .block(let block): block.length
        case .suffix(let name): name.utf8.count
        case .host: Int.max
        }
    }

    /// Whether it is about a host of this name, which is no address; the name as `plainHost` makes it.
    package func matches(name: String) -> Bool {
        switch kind {
        case .everything: true
        case .host(let host): host.octets == name.octets
        case .suffix(let suffix): name.endsLike("." + suffix)
        case .block: false
        }
    }

    /// Whether it is about this address.
    /// - Parameter isNamed: Whether the URL itself says the address; `*` is about what URLs say.
    package func matches(_ address: IPAddress, isNamed: Bool) -> Bool {
        switch kind {
        case .everything: isNamed
        case .block(let block): block.contains(address)
        case .host, .suffix: false
        }
    }

    /// A host in the one spelling in which hosts are compared: lower case, escapes undone, no dots at its end.
    package static func plainHost(_ host: String) -> String {
        // Brackets hold an address, in which a percent sign begins a zone.
        var bytes = host.beginsLike("[") ? Array(host.utf8) : host.percentDecoded
        while bytes.last == UInt8(ascii: ".") { bytes.removeLast() }
        return String(decoding: bytes, as: UTF8.self).lowercased()
    }
}
