import RepriseCore
import RepriseHTTP

/// What a client is told of trouble beside the status: a sentence, as JSON where it asks for that. No I/O.
enum ErrorBody {
    /// Whether JSON is asked for, by its own name.
    static func isJSON(_ request: HTTPFields) -> Bool {
        request.members(of: "Accept").contains {
            $0.upTo(";").trimmingOptionalWhitespace.equalsIgnoringCase("application/json")
        }
    }

    /// The same as an object: `status`, `message`, and `error` where the trouble has a name (RFC 9209 §2.3).
    static func json(_ status: Int, _ error: CacheError) -> String {
        let name = error.cause.map { ", \"error\": \(quoted($0.rawValue))" } ?? ""
        return "{\"status\": \(status)\(name), \"message\": \(quoted(error.message))}"
    }

    private static func quoted(_ text: String) -> String {
        text.unicodeScalars.reduce(into: "\"") { json, scalar in
            switch scalar {
            case "\"", "\\": json += "\\" + String(scalar)
            case _ where scalar.value < 0x20: json += " "
            default: json.unicodeScalars.append(scalar)
            }
        } + "\""
    }
}
