import RepriseCore
import RepriseHTTP
import RepriseRanges

/// A connection's last answer to a range, for the next one: players ask for one film again and again, and nothing but the
/// range is another. No I/O.
package struct AnswerMemory: Sendable {
    private let info: ContentInfo
    /// Seconds since 1970: `Date` is another the next second.
    private let second: Int64
    private let common: ServerExchange.Answer

    /// `nil` where the answer is not one of a single range.
    init?(_ answer: ServerExchange.Answer, _ info: ContentInfo, _ second: Int64) {
        guard answer.status == 206, answer.range != nil, answer.parts == nil, answer.isDelimited else { return nil }
        self.info = info
        self.second = second
        var common = answer
        common.fields.remove(["Content-Range", "Content-Length"])
        self.common = common
    }

    /// Whether an answer about `info` in that second is this one but for its range.
    func isOf(_ info: ContentInfo, _ second: Int64) -> Bool { second == self.second && info == self.info }

    /// The answer with another range.
    func answer(_ range: ByteRange, total: Int64?) -> ServerExchange.Answer {
        var answer = common
        answer.range = range
        answer.part = ServerExchange.Part(range: range, total: total)
        return answer
    }
}
