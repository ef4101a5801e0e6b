import RepriseCore
import RepriseTesting

/// Which kinds of origin, object and user a run has, to count what a simulation has met.
extension WorldPlan {
    /// What an object is.
    static func kinds(_ object: Object) -> [String] {
        var kinds = ["type \(object.contentType)"]
        if object.length == 0 { kinds.append("empty") }
        if object.length > ResponseJudge.longestResource {
            kinds.append("longer than is believed")
        } else if object.length > WorldPlan.endless {
            kinds.append("longer than is stored")
        }
        if object.isPerUser { kinds.append("users by \(object.userField)") }
        return kinds
    }

    /// What an origin does.
    static func kinds(_ behaviour: OriginBehaviour) -> [String] {
        var kinds = ["tag \(behaviour.tag)", "framing \(behaviour.framing)"]
        if !behaviour.hasLastModified { kinds.append("no date") }
        if behaviour.tag == .none, !behaviour.hasLastModified { kinds.append("no validator") }
        if behaviour.ranges == .ignored { kinds.append("ranges ignored") }
        if !behaviour.tellsRanges { kinds.append("no Accept-Ranges") }
        if behaviour.longestRange != nil { kinds.append("shorter ranges") }
        if behaviour.widensRanges > 0 { kinds.append("wider ranges") }
        if !behaviour.heedsIfRange { kinds.append("If-Range ignored") }
        if !behaviour.heedsIfNoneMatch { kinds.append("If-None-Match ignored") }
        if behaviour.explainsRefusals { kinds.append("416 with a message") }
        if !behaviour.tellsTotalInRefusals { kinds.append("416 without a length") }
        if behaviour.contentRange != .none { kinds.append("Content-Range \(behaviour.contentRange)") }
        if let status = behaviour.status {
            kinds.append("status \(status)")
            if behaviour.retryAfter != nil { kinds.append("Retry-After") }
        }
        switch behaviour.body {
        case .none: break
        case .short: kinds.append("body too short")
        case .long: kinds.append("body too long")
        case .stall: kinds.append("body stalls")
        case .reset: kinds.append("body reset")
        }
        for status in behaviour.refusals.values { kinds.append("a user refused by \(status)") }
        if behaviour.gzipsForTakers { kinds.append("gzip for who takes it") }
        if behaviour.loginPage { kinds.append("login page") }
        if behaviour.earlyHints { kinds.append("interim answers") }
        if let redirect = behaviour.redirect {
            kinds.append(redirect.hasPrefix("/moved") ? "redirect" : "redirect in circles")
        }
        if behaviour.firstByteDelay > 1_000_000_000 { kinds.append("silent before the head") }
        for (name, value) in behaviour.extraFields {
            // Of a list of directives the first says what kind it is.
            let first = value.split(separator: ",").first.map(String.init) ?? value
            kinds.append(name == "Cache-Control" || name == "Vary" ? "\(name) \(first)" : name)
        }
        return kinds
    }
}
