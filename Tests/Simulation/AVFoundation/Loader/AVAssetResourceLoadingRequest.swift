public import Foundation
public import FoundationNetworking

/// One resource, or one range of it, that the delegate is asked for. The loader holds it weakly.
// @unchecked: its state lives in the loader's core, behind a lock.
open class AVAssetResourceLoadingRequest: NSObject, @unchecked Sendable {
    let asked: SimulatedRequest

    /// What the player wants, with a `Range` header unless the whole resource is wanted.
    public let request: URLRequest
    /// Present while the loader has no content information of this URL.
    public let contentInformationRequest: AVAssetResourceLoadingContentInformationRequest?
    /// The bytes that are wanted.
    public let dataRequest: AVAssetResourceLoadingDataRequest?

    init(_ asked: SimulatedRequest, _ request: URLRequest, _ record: SimulatedLoaderRecord.Request) {
        self.asked = asked
        self.request = request
        contentInformationRequest =
            record.asksInformation ? AVAssetResourceLoadingContentInformationRequest(asked) : nil
        dataRequest = record.kind == .renewal ? nil : AVAssetResourceLoadingDataRequest(asked)
    }

    /// Whether it was finished, by whomever.
    public var isFinished: Bool { asked.locked { $0.seen.isFinished } }
    /// Whether the player cancelled it; true before the delegate hears of it.
    public var isCancelled: Bool { asked.locked { $0.seen.isCancelled } }

    /// The response to pass on; only an HTTP response has a meaning, and a redirect needs one.
    public var response: URLResponse? {
        get { asked.locked { $0.response } }
        set {
            let copy = newValue?.copy() as? URLResponse
            asked.locked { $0.response = copy }
        }
    }

    /// Where the player is to load from instead; http and https only.
    public var redirect: URLRequest? {
        get { asked.locked { $0.redirect } }
        set { asked.locked { $0.redirect = newValue } }
    }

    /// Everything was given. Fewer bytes than asked for mean that the resource ends here. A second call is ignored and
    /// counted; a content type that is not allowed is a recorded trap where Apple throws.
    open func finishLoading() { asked.finish(nil) }

    /// The load failed. The player sees the innermost underlying error; nil stands for an unknown one.
    open func finishLoading(with error: (any Error)?) {
        asked.finish(error.map { $0 as NSError } ?? AVError.make(.unknown))
    }
}

/// The renewal of content information that was given with a date.
// @unchecked: as its superclass.
open class AVAssetResourceRenewalRequest: AVAssetResourceLoadingRequest, @unchecked Sendable {}

/// What the player wants to know of a resource; sent once, at the first bytes or the finish, whichever comes first.
// @unchecked: its state lives in the loader's core, behind a lock.
open class AVAssetResourceLoadingContentInformationRequest: NSObject, @unchecked Sendable {
    let asked: SimulatedRequest

    init(_ asked: SimulatedRequest) { self.asked = asked }

    /// A uniform type identifier.
    public var contentType: String? {
        get { asked.locked { $0.filled.contentType } }
        set { asked.locked { $0.filled.contentType = newValue } }
    }
    /// The types that are allowed, or nil for any.
    public var allowedContentTypes: [String]? { asked.locked { $0.allowedContentTypes } }
    /// The length of the whole resource in bytes.
    public var contentLength: Int64 {
        get { asked.locked { $0.filled.contentLength } }
        set { asked.locked { $0.filled.contentLength = newValue } }
    }
    /// Whether any range can be asked for.
    public var isByteRangeAccessSupported: Bool {
        get { asked.locked { $0.filled.isByteRangeAccessSupported } }
        set { asked.locked { $0.filled.isByteRangeAccessSupported = newValue } }
    }
    /// When this must be asked again; nil for never.
    public var renewalDate: Date? {
        get { asked.locked { $0.filled.renewalDate } }
        set { asked.locked { $0.filled.renewalDate = newValue } }
    }
    /// Whether every byte is at hand without delay.
    public var isEntireLengthAvailableOnDemand: Bool {
        get { asked.locked { $0.filled.isEntireLengthAvailableOnDemand } }
        set { asked.locked { $0.filled.isEntireLengthAvailableOnDemand = newValue } }
    }
}

/// The bytes that a loading request wants, and where it stands.
// @unchecked: its state lives in the loader's core, behind a lock.
open class AVAssetResourceLoadingDataRequest: NSObject, @unchecked Sendable {
    let asked: SimulatedRequest

    init(_ asked: SimulatedRequest) { self.asked = asked }

    /// The first byte wanted.
    public var requestedOffset: Int64 { asked.locked { $0.seen.offset } }
    /// How many bytes are wanted; `Int.max` to the end of a resource whose length is not known.
    public var requestedLength: Int { asked.locked { $0.seen.length } }
    /// Whether the range reaches the end of the resource.
    public var requestsAllDataToEndOfResource: Bool { asked.locked { $0.seen.isToEnd } }
    /// Where the next bytes go: it moves with every respond, also after a cancel.
    public var currentOffset: Int64 { asked.locked { $0.seen.currentOffset } }
    /// Gives the next bytes. They are kept, not copied, until the player has consumed them; nothing is clamped.
    open func respond(with data: Data) { asked.respond(data) }
}
