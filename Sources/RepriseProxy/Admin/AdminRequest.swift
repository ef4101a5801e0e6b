package import RepriseCore
package import RepriseHTTP
import RepriseRanges

/// What an administrator asks of a cache. Total: every method and target has an answer.
///
///     GET    /health
///     GET    /statistics                       sums since the start, and since the store was made
///     GET    /metrics                          the same for Prometheus
///     GET    /activity                         open resources: readers and transfers now
///     GET    /entries                          what is stored
///     GET    /entries?url=U                    one entry, with its ranges
///     DELETE /entries?url=U                    remove it; all=1 instead of url=U removes every entry
///     PUT    /pins?url=U     DELETE /pins?url=U
///     POST   /prefetches?url=U[&range=0-99]    fetch ahead; answers with an id. Instead of range: head=1, seconds=9.5
///     GET    /prefetches     GET /prefetches/ID     DELETE /prefetches/ID
///     POST   /imports?url=U&file=PATH          store a file of this machine as all of U; optional type=, etag=, modified=
///     POST   /repairs[?url=U]                  read everything, or one entry, and drop what is damaged; answers with what it did
///     POST   /sweep                            count, remove what is too old, evict; answers with what is taken then
///     POST   /drain                            take no more connections: health turns to 503
package enum AdminRequest: Sendable, Hashable {
    case health
    case statistics
    case metrics
    case activity
    case entries
    case entry(OriginURL)
    case remove(OriginURL)
    case removeAll
    case pin(OriginURL)
    case unpin(OriginURL)
    case prefetch(OriginURL, PrefetchPart)
    case prefetches
    case prefetchProgress(Int)
    case cancelPrefetch(Int)
    case importFile(OriginURL, path: String, ImportDescription)
    case repair(OriginURL?)
    case sweep
    case drain

    /// Why a request is none.
    package enum Refusal: Error, Hashable {
        /// Nothing has this path.
        case unknownPath
        /// The path is there, but not for this method; names those it has.
        case wrongMethod(allowed: String)
        /// A parameter is missing or unreadable; says which.
        case badParameter(String)
    }

    package init(method: String, target: String) throws(Refusal) {
        let path = target.upTo("?")
        let parameters = try AdminRequest.parameters(target.cut(at: "?")?.tail ?? "", method, path)
        switch path {
        case "/health": self = try AdminRequest.only("GET", method, .health)
        case "/statistics": self = try AdminRequest.only("GET", method, .statistics)
        case "/metrics": self = try AdminRequest.only("GET", method, .metrics)
        case "/activity": self = try AdminRequest.only("GET", method, .activity)
        case "/imports": self = try AdminRequest.only("POST", method, try AdminRequest.importing(parameters))
        case "/repairs":
            let one = parameters["url"] == nil ? nil : try AdminRequest.url(parameters)
            self = try AdminRequest.only("POST", method, .repair(one))
        case "/sweep": self = try AdminRequest.only("POST", method, .sweep)
        case "/drain": self = try AdminRequest.only("POST", method, .drain)
        case "/entries": self = try AdminRequest.entries(method, parameters)
        case "/pins":
            switch method {
            case "PUT": self = .pin(try AdminRequest.url(parameters))
            case "DELETE": self = .unpin(try AdminRequest.url(parameters))
            default: throw .wrongMethod(allowed: "PUT, DELETE")
            }
        case "/prefetches": self = try AdminRequest.prefetches(method, parameters)
        default:
            guard let number = path.without(prefix: "/prefetches/"), let id = Int(number) else { throw .unknownPath }
            switch method {
            case "GET": self = .prefetchProgress(id)
            case "DELETE": self = .cancelPrefetch(id)
            default: throw .wrongMethod(allowed: "GET, DELETE")
            }
        }
    }

    /// Method and target by which this is asked for.
    package var line: (method: String, target: String) {
        switch self {
        case .health: ("GET", "/health")
        case .statistics: ("GET", "/statistics")
        case .metrics: ("GET", "/metrics")
        case .activity: ("GET", "/activity")
        case .entries: ("GET", "/entries")
        case .entry(let url): ("GET", "/entries?url=" + PercentCoding.encoded(url.description))
        case .remove(let url): ("DELETE", "/entries?url=" + PercentCoding.encoded(url.description))
        case .removeAll: ("DELETE", "/entries?all=1")
        case .pin(let url): ("PUT", "/pins?url=" + PercentCoding.encoded(url.description))
        case .unpin(let url): ("DELETE", "/pins?url=" + PercentCoding.encoded(url.description))
        case .prefetch(let url, let part):
            ("POST", "/prefetches?url=" + PercentCoding.encoded(url.description) + AdminRequest.parameter(part))
        case .prefetches: ("GET", "/prefetches")
        case .prefetchProgress(let id): ("GET", "/prefetches/\(id)")
        case .cancelPrefetch(let id): ("DELETE", "/prefetches/\(id)")
        case .importFile(let url, let path, let description):
            (
                "POST",
                "/imports?url=" + PercentCoding.encoded(url.description) + "&file=" + PercentCoding.encoded(path)
                    + AdminRequest.parameters(description)
            )
        case .repair(let url):
            ("POST", "/repairs" + (url.map { "?url=" + PercentCoding.encoded($0.description) } ?? ""))
        case .sweep: ("POST", "/sweep")
        case .drain: ("POST", "/drain")
        }
    }

    private static func parameter(_ part: PrefetchPart) -> String {
        switch part {
        case .whole: ""
        case .head: "&head=1"
        case .seconds(let seconds): "&seconds=\(seconds)"
        case .bytes(let count): "&range=0-\(max(0, count - 1))"
        case .range(let range):
            "&range=\(range.lowerBound)-" + (range.upperBound == .max ? "" : "\(range.upperBound - 1)")
        }
    }

    private static func parameters(_ description: ImportDescription) -> String {
        let fields = [
            ("type", description.contentType), ("etag", description.entityTag), ("modified", description.lastModified),
        ]
        return fields.compactMap { name, value in value.map { "&\(name)=" + PercentCoding.encoded($0) } }.joined()
    }

    /// Whether the answer comes when the work is done, which may take hours.
    package var isLong: Bool {
        switch self {
        case .importFile, .repair: true
        default: false
        }
    }

    // MARK: Reading

    private static func importing(_ parameters: [String: String]) throws(Refusal) -> Self {
        guard let path = parameters["file"], path.beginsLike("/"), !path.utf8.contains(0) else {
            throw .badParameter("file is not a percent-encoded absolute path")
        }
        let description = ImportDescription(
            contentType: parameters["type"], entityTag: parameters["etag"], lastModified: parameters["modified"])
        return .importFile(try url(parameters), path: path, description)
    }

    private static func only(_ allowed: String, _ method: String, _ request: Self) throws(Refusal) -> Self {
        guard method == allowed else { throw .wrongMethod(allowed: allowed) }
        return request
    }

    private static func entries(_ method: String, _ parameters: [String: String]) throws(Refusal) -> Self {
        let all = parameters["all"]
        if all != nil, all != "1" || parameters["url"] != nil || method != "DELETE" {
            throw .badParameter("all is 1, for DELETE, and without url")
        }
        switch method {
        case "GET": return parameters["url"] == nil ? .entries : .entry(try url(parameters))
        case "DELETE": return all == nil ? .remove(try url(parameters)) : .removeAll
        default: throw .wrongMethod(allowed: "GET, DELETE")
        }
    }

    private static func prefetches(_ method: String, _ parameters: [String: String]) throws(Refusal) -> Self {
        switch method {
        case "GET": return .prefetches
        case "POST":
            return .prefetch(try url(parameters), try part(parameters))
        default: throw .wrongMethod(allowed: "GET, POST")
        }
    }

    private static func part(_ parameters: [String: String]) throws(Refusal) -> PrefetchPart {
        if ["head", "seconds", "range"].count(where: { parameters[$0] != nil }) > 1 {
            throw .badParameter("head, seconds and range are mutually exclusive")
        }
        if let head = parameters["head"] {
            guard head == "1" else { throw .badParameter("head is 1") }
            return .head
        }
        if let text = parameters["seconds"] {
            guard let seconds = Double(text), seconds >= 0, seconds.isFinite else {
                throw .badParameter("seconds is not a number of at least 0")
            }
            return .seconds(seconds)
        }
        guard let text = parameters["range"] else { return .whole }
        guard let parts = RangeSpecifier.parse("bytes=" + text), parts.count == 1,
            let range = parts[0].resolvedWithoutLength
        else { throw .badParameter("range is not of the form FIRST-LAST or FIRST-") }
        return .range(range)
    }

    private static func url(_ parameters: [String: String]) throws(Refusal) -> OriginURL {
        guard let url = parameters["url"].flatMap({ OriginURL($0) }) else {
            throw .badParameter("url is not a percent-encoded http or https URL")
        }
        return url
    }

    /// The parameters of a path; `nil` where any are ignored, as monitoring may add its own.
    private static func names(_ method: String, _ path: Substring) -> [String]? {
        switch path {
        case "/imports": ["url", "file", "type", "etag", "modified"]
        case "/repairs", "/pins": ["url"]
        case "/entries": ["url", "all"]
        case "/prefetches" where method != "GET": ["url", "range", "head", "seconds"]
        case "/prefetches", "/sweep", "/drain": []
        default: path.without(prefix: "/prefetches/").flatMap { Int($0) } == nil ? nil : []
        }
    }

    /// What a query says. A parameter that cannot be read is refused: passed over, it would ask for more than was meant.
    private static func parameters(
        _ query: Substring, _ method: String, _ path: Substring
    ) throws(Refusal) -> [String: String] {
        guard let names = names(method, path) else { return [:] }
        var found: [String: String] = [:]
        for item in query.parts(between: "&") where !item.isEmpty {
            let (name, value) = item.cut(at: "=") ?? (item, "")
            guard let name = names.first(where: { $0.octets == String(name).octets }) else {
                throw .badParameter("the parameters are \(names.isEmpty ? "none" : names.joined(separator: ", "))")
            }
            guard found[name] == nil, let text = PercentCoding.decoded(value) else {
                throw .badParameter("\(name) is given twice, or not percent-encoded")
            }
            found[name] = text
        }
        return found
    }
}
