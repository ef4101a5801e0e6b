#if Server
    import Metrics
    import ReprisePlatform

    /// A backend of swift-metrics that prints what was measured in Prometheus' text format 0.0.4.
    final class PrometheusRegistry: MetricsFactory, Sendable {
        /// One series: a name and its labels.
        private struct Series: Hashable, Comparable {
            let name: String
            let labels: String

            init(_ label: String, _ dimensions: [(String, String)]) {
                name = String(label.map { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") ? $0 : "_" })
                let texts = dimensions.sorted { $0.0 < $1.0 }.map { "\($0)=\"\(Series.escaped($1))\"" }
                labels = texts.isEmpty ? "" : "{" + texts.joined(separator: ",") + "}"
            }

            static func < (left: Series, right: Series) -> Bool {
                (left.name, left.labels) < (right.name, right.labels)
            }

            private static func escaped(_ text: String) -> String {
                var result = ""
                for character in text {
                    switch character {
                    case "\\": result += "\\\\"
                    case "\"": result += "\\\""
                    case "\n": result += "\\n"
                    default: result.append(character)
                    }
                }
                return result
            }
        }

        private enum Kind: String { case counter, gauge, summary }

        private let series = Lock<[Series: Value]>([:])

        private func value(_ label: String, _ dimensions: [(String, String)], _ kind: Kind) -> Value {
            series.withLock { series in
                let key = Series(label, dimensions)
                if let found = series[key] { return found }
                let made = Value(kind: kind.rawValue)
                series[key] = made
                return made
            }
        }

        func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
            value(label, dimensions, .counter)
        }

        func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
            value(label, dimensions, .gauge)
        }

        func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
            value(label, dimensions, aggregate ? .summary : .gauge)
        }

        func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
            value(label, dimensions, .summary)
        }

        // A series stays as long as the process: Prometheus wants counters not to start again.
        func destroyCounter(_ handler: any CounterHandler) {}
        func destroyMeter(_ handler: any MeterHandler) {}
        func destroyRecorder(_ handler: any RecorderHandler) {}
        func destroyTimer(_ handler: any TimerHandler) {}

        /// Everything measured so far, in order.
        func text() -> String {
            var lines: [String] = []
            var last = ""
            for (key, value) in series.withLock({ $0 }).sorted(by: { $0.key < $1.key }) {
                if key.name != last { lines.append("# TYPE \(key.name) \(value.kind)") }
                last = key.name
                lines += value.lines(key.name, key.labels)
            }
            return lines.joined(separator: "\n") + "\n"
        }
    }

    /// What one series has measured.
    private final class Value: CounterHandler, MeterHandler, RecorderHandler, TimerHandler {
        private struct State {
            var sum = 0.0
            var count: Int64 = 0
        }

        let kind: String
        private let state = Lock(State())

        init(kind: String) { self.kind = kind }

        func increment(by amount: Int64) { state.withLock { $0.sum += Double(amount) } }
        func increment(by amount: Double) { state.withLock { $0.sum += amount } }
        func decrement(by amount: Double) { state.withLock { $0.sum -= amount } }
        func reset() { state.withLock { $0 = State() } }
        func set(_ value: Int64) { set(Double(value)) }
        func set(_ value: Double) { state.withLock { $0.sum = value } }
        func record(_ value: Int64) { record(Double(value)) }

        func record(_ value: Double) {
            let isGauge = kind == "gauge"
            state.withLock { state in
                state.sum = isGauge ? value : state.sum + value
                state.count += 1
            }
        }

        func recordNanoseconds(_ duration: Int64) { record(Double(duration) / 1e9) }

        func lines(_ name: String, _ labels: String) -> [String] {
            let now = state.withLock { $0 }
            let sum = now.sum == now.sum.rounded() && abs(now.sum) < 1e15 ? "\(Int64(now.sum))" : "\(now.sum)"
            guard kind == "summary" else { return ["\(name)\(labels) \(sum)"] }
            return ["\(name)_sum\(labels) \(sum)", "\(name)_count\(labels) \(now.count)"]
        }
    }
#endif
