public import Foundation
public import FoundationNetworking

/// One resource, or one range of it, that the delegate is asked for. The loader holds it weakly.
// @unchecked: its state lives in the loader's core, behind a lock.
open class AVAssetResourceLoadingRequest: NSObject, @unchecked Sendable {
    let core: SimulatedLoaderCore
    let identifier: Int

    /// What the player wants, with a `Range` header unless the whole resource is wanted.
    public let request: URLRequest
    /// Present while the loader has no content information of this URL.
    public let contentInformationRequest: AVAssetResourceLoadingContentInformationRequest?
    /// The bytes that are wanted.
    public let dataRequest: AVAssetResourceLoadingDataRequest?
    /// Who asks.
    public let requestor = AVAssetResourceLoadingRequestor()

    init(core: SimulatedLoaderCore, identifier: Int, request: URLRequest, asksInformation: Bool, asksData: Bool) {
        self.core = core
        self.identifier = identifier
        self.request = request
        contentInformationRequest =
            asksInformation
            ? AVAssetResourceLoadingContentInformationRequest(core: core, identifier: identifier) : nil
        dataRequest = asksData ? AVAssetResourceLoadingDataRequest(core: core, identifier: identifier) : nil
    }

    /// Whether it was finished, by whomever.
    public var isFinished: Bool { core.read(identifier) { $0.record.isFinished } }
    /// Whether the player cancelled it; true before the delegate hears of it.
    public var isCancelled: Bool { core.read(identifier) { $0.record.isCancelled } }

    /// The response to pass on; only an HTTP response has a meaning, and a redirect needs one.
    public var response: URLResponse? {
        get { core.read(identifier) { $0.response } }
        set {
            let copy = newValue?.copy() as? URLResponse
            core.change(identifier) { $0.response = copy }
        }
    }

    /// Where the player is to load from instead; http and https only.
    public var redirect: URLRequest? {
        get { core.read(identifier) { $0.redirect } }
        set { core.change(identifier) { $0.redirect = newValue } }
    }

    /// Everything was given. Fewer bytes than asked for mean that the resource ends here. A second call is ignored and
    /// counted; a content type that is not allowed is a recorded trap where Apple throws.
    open func finishLoading() { core.finish(identifier, error: nil) }

    /// The load failed. The player sees the innermost underlying error; nil stands for an unknown one.
    open func finishLoading(with error: (any Error)?) {
        core.finish(identifier, error: error.map { $0 as NSError } ?? AVError.make(.unknown))
    }
}

/// The renewal of content information that was given with a date.
// @unchecked: as its superclass.
open class AVAssetResourceRenewalRequest: AVAssetResourceLoadingRequest, @unchecked Sendable {}

/// Who asked for a resource.
// @unchecked: it has no state.
open class AVAssetResourceLoadingRequestor: NSObject, @unchecked Sendable {
    /// Whether reports of expired key sessions are wanted.
    public var providesExpiredSessionReports: Bool { false }
    override init() {}
}

/// What the player wants to know of a resource; sent once, at the first bytes or the finish, whichever comes first.
// @unchecked: its state lives in the loader's core, behind a lock.
open class AVAssetResourceLoadingContentInformationRequest: NSObject, @unchecked Sendable {
    let core: SimulatedLoaderCore
    let identifier: Int

    init(core: SimulatedLoaderCore, identifier: Int) {
        self.core = core
        self.identifier = identifier
    }

    private func value<Value>(_ path: KeyPath<SimulatedInformation, Value>) -> Value {
        core.read(identifier) { $0.filled[keyPath: path] }
    }

    private func set<Value>(_ path: WritableKeyPath<SimulatedInformation, Value>, _ value: Value) {
        core.change(identifier) { $0.filled[keyPath: path] = value }
    }

    /// A uniform type identifier.
    public var contentType: String? {
        get { value(\.contentType) }
        set { set(\.contentType, newValue) }
    }
    /// The types that are allowed, or nil for any.
    public var allowedContentTypes: [String]? { core.read(identifier) { $0.allowedContentTypes } }
    /// The length of the whole resource in bytes.
    public var contentLength: Int64 {
        get { value(\.contentLength) }
        set { set(\.contentLength, newValue) }
    }
    /// Whether any range can be asked for.
    public var isByteRangeAccessSupported: Bool {
        get { value(\.isByteRangeAccessSupported) }
        set { set(\.isByteRangeAccessSupported, newValue) }
    }
    /// When this must be asked again; nil for never.
    public var renewalDate: Date? {
        get { value(\.renewalDate) }
        set { set(\.renewalDate, newValue) }
    }
    /// Whether every byte is at hand without delay.
    public var isEntireLengthAvailableOnDemand: Bool {
        get { value(\.isEntireLengthAvailableOnDemand) }
        set { set(\.isEntireLengthAvailableOnDemand, newValue) }
    }
}

/// The bytes that a loading request wants, and where it stands.
// @unchecked: its state lives in the loader's core, behind a lock.
open class AVAssetResourceLoadingDataRequest: NSObject, @unchecked Sendable {
    let core: SimulatedLoaderCore
    let identifier: Int

    init(core: SimulatedLoaderCore, identifier: Int) {
        self.core = core
        self.identifier = identifier
    }

    /// The first byte wanted.
    public var requestedOffset: Int64 { core.read(identifier) { $0.record.offset } }
    /// How many bytes are wanted; `Int.max` to the end of a resource whose length is not known.
    public var requestedLength: Int { core.read(identifier) { $0.record.length } }
    /// Whether the range reaches the end of the resource.
    public var requestsAllDataToEndOfResource: Bool { core.read(identifier) { $0.record.isToEnd } }
    /// Where the next bytes go: it moves with every respond, also after a cancel.
    public var currentOffset: Int64 { core.read(identifier) { $0.record.currentOffset } }
    /// Gives the next bytes. They are kept, not copied, until the player has consumed them; nothing is clamped.
    open func respond(with data: Data) { core.respond(identifier, data) }
}
