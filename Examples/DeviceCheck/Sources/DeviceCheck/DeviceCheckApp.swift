import Foundation
import SwiftUI

/// The app; with `--report` the report alone, for CI on a Mac: it ends with 1 if a check failed. Neither has run yet.
@main
@MainActor
enum DeviceCheckProgram {
    static func main() {
        guard CommandLine.arguments.contains("--report") else { return DeviceCheckApp.main() }
        Task {
            var hasFailed = false
            for check in Traces.all + [Traces.proxied] {
                let line = await report(of: check)
                print(line.text)
                if case .fail = line.verdict { hasFailed = true }
            }
            exit(hasFailed ? 1 : 0)
        }
        RunLoop.main.run()
    }
}

/// Runs the request patterns and shows what became of them. Not yet run on a device.
struct DeviceCheckApp: App {
    var body: some Scene {
        WindowGroup { ReportView() }
    }
}

struct ReportView: View {
    @State private var lines: [ReportLine] = []
    @State private var isRunning = false

    var body: some View {
        NavigationStack {
            List(lines) { line in
                Text(line.text)
                    .font(.system(.footnote, design: .monospaced))
                    .foregroundStyle(colour(of: line.verdict))
            }
            .navigationTitle("Reprise on this device")
            .toolbar {
                Button("Run") { Task { await run() } }.disabled(isRunning)
            }
        }
    }

    private func run() async {
        isRunning = true
        lines = []
        for check in Traces.all + [Traces.proxied] {
            let line = await report(of: check)
            print(line.text)
            lines.append(line)
        }
        isRunning = false
    }

    private func colour(of verdict: Verdict) -> Color {
        switch verdict {
        case .pass: .green
        case .fail: .red
        case .notRun: .secondary
        }
    }
}
