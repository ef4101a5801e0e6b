#if Server
    import RepriseHTTP
    import Testing

    /// A rule of HTTP for shared caches, and an exchange that shows whether it is kept.
    struct Clause: Sendable, CustomTestStringConvertible {
        /// Every rule.
        static let all: [Clause] = [
            freshness, storing, requests, validation, selection, invalidation, stale, ranges, messages,
        ].flatMap { $0 }

        /// What HTTP calls it, for example `RFC 9111 §5.2.2.1`.
        let source: String
        /// The rule in a few words; with `source` it is a row of docs/http.md.
        let rule: String
        /// Which of several forms of the rule this is.
        let form: String?
        let steps: [Step]

        init(_ source: String, _ rule: String, form: String? = nil, _ steps: [Step]) {
            self.source = source
            self.rule = rule
            self.form = form
            self.steps = steps
        }

        var testDescription: String { "\(source): \(rule)" + (form.map { ", \($0)" } ?? "") }

        /// One request to the cache, what the origin answers if it is asked, and what must come of it.
        struct Step: Sendable {
            var method = "GET"
            /// Behind the path that every request of the clause has.
            var query = ""
            var fields: HTTPFields = [:]
            var answer = OriginAnswer()
            var outcome: Outcome
            /// Fields of the client's answer; `nil` for one that must not be there.
            var told: [String: String?] = [:]
            /// The method the origin was asked by, where that matters.
            var askedBy: String?
            /// Fields of what the origin was asked; `nil` for one that must not be there.
            var asked: [String: String?] = [:]
        }

        /// Whose answer a client must be given. Steps count from 0.
        enum Outcome: Sendable, Hashable {
            /// The origin's to this step's request.
            case passed
            /// That of an earlier step, and the origin is not asked.
            case stored(Int)
            /// That of an earlier step, about which the origin is asked.
            case confirmed(Int)
            /// A part of an earlier step's, and the origin is not asked.
            case part(Int, Range<Int>)
            /// One of the cache's own with this status and no body of the origin's, which is not asked.
            case own(Int)
            /// One of the cache's own with this status, after the origin was asked.
            case failed(Int)
        }
    }

    /// What an origin answers.
    struct OriginAnswer: Sendable {
        var status = 200
        /// In values `{now+60}` stands for the date so many seconds from now.
        var fields: HTTPFields = [:]
        /// `nil` where each step has one of its own.
        var body: String?
        /// Of which it gives the range that is asked for, instead of `body`.
        var resource: String?
        /// The connection is closed instead.
        var isNone = false
    }

    extension Clause.Step {
        /// A request for which the origin's answer is the client's.
        static func ask(
            _ method: String = "GET", status: Int = 200, _ answer: HTTPFields = [:], body: String? = nil,
            told: [String: String?] = [:], asked: [String: String?] = [:]
        ) -> Clause.Step {
            ask(method, "", status: status, answer, body: body, told: told, asked: asked)
        }

        /// The same with a query and fields of the request.
        static func ask(
            _ method: String, _ query: String, _ fields: HTTPFields = [:], status: Int = 200,
            _ answer: HTTPFields = [:], body: String? = nil, told: [String: String?] = [:],
            asked: [String: String?] = [:]
        ) -> Clause.Step {
            Clause.Step(
                method: method, query: query, fields: fields,
                answer: OriginAnswer(status: status, fields: answer, body: body), outcome: .passed, told: told,
                asked: asked)
        }

        /// A request that is answered with what an earlier step stored.
        static func hit(
            _ step: Int = 0, _ query: String = "", _ fields: HTTPFields = [:], method: String = "GET",
            told: [String: String?] = [:]
        ) -> Clause.Step {
            Clause.Step(method: method, query: query, fields: fields, outcome: .stored(step), told: told)
        }

        /// A request that is answered with what an earlier step stored, once the origin was asked about it.
        static func confirmed(
            _ step: Int = 0, _ fields: HTTPFields = [:], status: Int = 304, _ answer: HTTPFields = [:],
            told: [String: String?] = [:], asked: [String: String?] = [:]
        ) -> Clause.Step {
            Clause.Step(
                fields: fields, answer: OriginAnswer(status: status, fields: answer), outcome: .confirmed(step),
                told: told, asked: asked)
        }

        /// A request whose origin closes the connection, answered with what an earlier step stored.
        static func deadButStored(_ step: Int = 0) -> Clause.Step {
            Clause.Step(answer: OriginAnswer(isNone: true), outcome: .confirmed(step))
        }

        /// A request whose origin closes the connection.
        static func dead(_ status: Int) -> Clause.Step {
            Clause.Step(answer: OriginAnswer(isNone: true), outcome: .failed(status))
        }

        /// A request that the cache answers by itself.
        static func own(
            _ status: Int, _ fields: HTTPFields = [:], method: String = "GET", told: [String: String?] = [:]
        ) -> Clause.Step {
            Clause.Step(method: method, fields: fields, outcome: .own(status), told: told)
        }

        /// A HEAD that goes on to the origin.
        static func head(
            _ fields: HTTPFields = [:], status: Int = 200, _ answer: HTTPFields = [:], told: [String: String?] = [:]
        ) -> Clause.Step {
            Clause.Step(
                method: "HEAD", fields: fields, answer: OriginAnswer(status: status, fields: answer), outcome: .passed,
                told: told, askedBy: "HEAD")
        }

        /// A request for a part of what an origin has that serves ranges.
        static func range(
            _ range: String, of resource: String, _ fields: HTTPFields, taking codings: String? = nil,
            told: [String: String?] = [:], asked: [String: String?] = [:]
        ) -> Clause.Step {
            var asking: HTTPFields = ["Range": range]
            asking["Accept-Encoding"] = codings
            return Clause.Step(
                fields: asking, answer: OriginAnswer(fields: fields, resource: resource),
                outcome: .failed(206),
                told: told, asked: asked)
        }

        /// A request for a part of what an earlier step stored.
        static func part(
            _ step: Int = 0, of body: Range<Int>, _ fields: HTTPFields, told: [String: String?] = [:]
        ) -> Clause.Step {
            Clause.Step(fields: fields, outcome: .part(step, body), told: told)
        }
    }
#endif
