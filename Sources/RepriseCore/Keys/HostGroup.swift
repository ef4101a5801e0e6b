package import RepriseHTTP

/// Several hosts that serve the same resources under the same paths: one CDN's, or those of several.
///
/// A resource has one key whichever of them its URL names, and where one fails the next is asked, with the same fields:
/// credentials for one go to all.
public struct HostGroup: Sendable, Hashable {
    private struct Member: Sendable, Hashable {
        let host: String
        /// `nil` for the scheme's own.
        let port: Int?
    }

    private let members: [Member]

    /// Makes a group; `nil` for fewer than two hosts, or text that is no host.
    /// - Parameter hosts: `host` or `host:port`, the one the key is made of first.
    public init?(_ hosts: [String]) {
        var members: [Member] = []
        for text in hosts {
            guard let url = OriginURL("http://" + text), url.userInfo == nil, url.target == "/",
                !text.utf8.contains(UInt8(ascii: "/"))
            else { return nil }
            let hasPort = url.port != 80 || text.endsLike(":80")
            members.append(Member(host: url.host, port: hasPort ? url.port : nil))
        }
        guard Set(members).count > 1 else { return nil }
        self.members = members
    }

    /// How many hosts there are.
    package var count: Int { members.count }

    /// The number of the host a URL names; `nil` where it is none of them.
    package func index(of url: OriginURL) -> Int? {
        members.firstIndex { $0.host.octets == url.host.octets && $0.port.map { $0 == url.port } ?? url.hasDefaultPort }
    }

    /// The same resource at another of the hosts.
    package func url(_ url: OriginURL, at index: Int) -> OriginURL {
        guard self.index(of: url) != index else { return url }
        return url.at(host: members[index].host, port: members[index].port)
    }
}

extension [HostGroup] {
    /// The group a URL's host belongs to.
    package func group(of url: OriginURL) -> HostGroup? { first { $0.index(of: url) != nil } }

    /// The URL that stands for all of its group; itself where it belongs to none.
    package func canonical(_ url: OriginURL) -> OriginURL { group(of: url)?.url(url, at: 0) ?? url }
}
