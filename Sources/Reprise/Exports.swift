@_exported public import RepriseCore
@_exported public import RepriseHTTP
@_exported public import RepriseRanges
@_exported public import RepriseStorage
@_exported public import RepriseURLSession

@_exported public import struct ReprisePlatform.DiskVolume
@_exported public import struct ReprisePlatform.FileError
@_exported public import protocol ReprisePlatform.StoreVolume
@_exported public import protocol ReprisePlatform.VolumeFile
@_exported public import enum ReprisePlatform.VolumeFileMode
@_exported public import struct ReprisePlatform.VolumeFileStatus
@_exported public import struct ReprisePlatform.VolumeSpace

#if Proxy
    @_exported public import RepriseProxy
#endif
#if canImport(AVFoundation) && !os(watchOS) && !os(Linux)
    @_exported public import RepriseAVFoundation
#endif
