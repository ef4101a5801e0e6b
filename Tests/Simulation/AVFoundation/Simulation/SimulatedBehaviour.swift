/// How the simulated loader and player act: each knob is a behaviour seen on some system. The letter is the confidence of
/// the fact behind it: A read in a header, B several independent reports, C one report, D an inference.
public struct SimulatedBehaviour: Sendable {
    /// Where the container keeps what a player needs first.
    public enum Layout: Sendable {
        /// mp4 with its index at the front: read from the first byte on. (B)
        case faststart
        /// mp4 with its index behind the media: the head is read, then the player jumps to the index. (B)
        case moovLast
        /// mp3 of constant bit rate: no index. (B)
        case mp3
        /// Fragments, each read as a range of its own. (D)
        case fragmented
    }

    /// Blocks of 64 KiB are read before the request to the end, as iOS ≤ 12 does; later systems ask at once. (B)
    public var probesInSmallBlocks = false
    /// The delegate hears of a cancel; iOS 10.3.3 left it out at times. (C)
    public var deliversCancel = true
    /// A seek cancels before it asks anew; the other order is seen too. (C)
    public var cancelsBeforeNewRequest = true
    /// How many requests a player keeps open together; more than one with interleaved media. (B)
    public var requestsInParallel = 1
    /// How far a player reads ahead before it cancels, in bytes. (C: field logs differ)
    public var bytesAhead: Int64 = 8 << 20
    /// Where the container keeps its index.
    public var layout = Layout.faststart
    /// Where the index of `moovLast` begins; nil puts it into the last 64 KiB block but one. (B: aligned to blocks)
    public var indexOffset: Int64?
    /// The content types a request allows; almost always nil for media. (B)
    public var allowedContentTypes: [String]?
    /// With the on-demand flag set, a player reads small pieces when it needs them and keeps little. (C)
    public var heedsOnDemandFlag = true
    /// The delegate is asked for http and https too, as reported with Xcode 26. (C)
    public var httpReachesDelegate = false
    /// How many bytes a second of media takes; with the length it gives the duration.
    public var bytesPerSecond = 128_000
    /// The length of a resource that is loaded natively, without the delegate.
    public var nativeLength: Int64 = 1_000_000
    /// Content types that are media; another one fails the item as not recognised. (B)
    public var playableTypes: Set<String> = [
        "public.mpeg-4", "public.mpeg-4-audio", "com.apple.m4a-audio", "com.apple.m4v-video", "public.mp3",
        "com.apple.quicktime-movie", "com.microsoft.waveform-audio", "public.aiff-audio", "public.3gpp",
        "com.apple.coreaudio-format",
    ]

    /// A current system and a faststart file.
    public init() {}

    /// What is known of a system, by the major number of its iOS release.
    public static func iOS(_ generation: Int) -> SimulatedBehaviour {
        var behaviour = SimulatedBehaviour()
        behaviour.probesInSmallBlocks = generation <= 12
        behaviour.deliversCancel = generation > 10
        behaviour.httpReachesDelegate = generation >= 26
        behaviour.heedsOnDemandFlag = generation >= 16
        return behaviour
    }
}
