// gives: function cannot be declared public because its parameter uses an internal type
#if MISTAKE
    import AVFoundation
#else
    public import AVFoundation
#endif

/// Something public.
public func asset(_ url: URL) -> AVURLAsset { AVURLAsset(url: url) }
