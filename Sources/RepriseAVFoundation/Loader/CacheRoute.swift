#if canImport(AVFoundation) && !os(watchOS)
    public import AVFoundation
    public import RepriseCore
#endif
