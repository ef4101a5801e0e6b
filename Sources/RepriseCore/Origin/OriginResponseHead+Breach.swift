import RepriseHTTP

extension OriginResponseHead {
    /// What of it HTTP does not allow, or we never asked for, in words; `nil` where it may be used. For clients, before they
    /// tell it.
    package var breach: String? {
        guard status >= 200 else {
            // Interim answers are the client's own; 101 follows on an `Upgrade`, which is never sent (RFC 9110 §15.2.2).
            return "the origin answered \(status), which is no final answer"
        }
        let codings = fields.members(of: "Transfer-Encoding")
        if let coding = codings.first(where: { !$0.equalsIgnoringCase("chunked") && !$0.equalsIgnoringCase("identity") }
        ) {
            // `TE` was not sent, so no other coding may come (RFC 9112 §7.4); its bytes would be taken for the media's.
            return "the origin sends the transfer coding \(coding), which was not asked for"
        }
        return nil
    }
}
