public import RepriseCore

extension MediaCache {
    /// Tries again at once, when `path` returns, what waits for an origin to be reached. The watch lasts as long as the
    /// cache; another call adds another path.
    public func retryAtOnce(whenReturns path: any NetworkPath) {
        keep(path.watch { [weak self] in self?.networkPathReturned() })
    }
}
