@_exported public import RepriseCore
@_exported public import RepriseHTTP
@_exported public import RepriseRanges
@_exported public import RepriseStorage
@_exported public import RepriseURLSession

#if Proxy
    @_exported public import RepriseProxy
#endif
#if canImport(AVFoundation) && !os(watchOS) && !os(Linux)
    @_exported public import RepriseAVFoundation
#endif
