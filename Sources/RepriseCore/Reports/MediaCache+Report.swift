extension MediaCache {
    /// What goes on in every open resource, by key.
    package var resourceReports: [ResourceReport] { openEntries.map(\.report) }
}
