/// Waits until `condition` holds, for things that announce themselves to nobody; answers whether it came to hold.
///
/// It looks every two milliseconds. The deadline only bounds how long a failing test takes, so it is generous.
package func eventually(
    within deadline: Duration = .seconds(300), _ condition: @Sendable () -> Bool
) async -> Bool {
    let start = ContinuousClock.now
    while !condition() {
        guard ContinuousClock.now - start < deadline, !Task.isCancelled else { return condition() }
        try? await Task.sleep(for: .milliseconds(2))
    }
    return true
}
