/// Loads its properties without blocking.
public protocol AVAsynchronousKeyValueLoading: AnyObject {}

/// A property of some value.
open class AVPartialAsyncProperty<Root: AVAsynchronousKeyValueLoading> {}

// @unchecked: immutable.
/// A property that is loaded before it is read.
public final class AVAsyncProperty<Root: AVAsynchronousKeyValueLoading, Value: Sendable>:
    AVPartialAsyncProperty<Root>, @unchecked Sendable
{
    let value: @Sendable (SimulatedMedia.Facts) -> Value
    init(_ value: @escaping @Sendable (SimulatedMedia.Facts) -> Value) { self.value = value }
}

extension AVPartialAsyncProperty where Root: AVAsset {
    /// Whether a player can play it.
    public static var isPlayable: AVAsyncProperty<Root, Bool> { AVAsyncProperty { $0.length > 0 } }
    /// How long it is.
    public static var duration: AVAsyncProperty<Root, CMTime> { AVAsyncProperty { $0.duration } }
    /// Whether a receiver can load its URL by itself.
    public static var isCompatibleWithAirPlayVideo: AVAsyncProperty<Root, Bool> { AVAsyncProperty { $0.isNative } }
}

extension AVAsynchronousKeyValueLoading where Self: AVAsset {
    /// The value of a property, loaded through the loader if need be; throws what the player would show.
    public func load<Value>(
        _ property: AVAsyncProperty<Self, Value>, isolation: isolated (any Actor)? = #isolation
    ) async throws -> Value {
        guard let media = simulatedMedia else { throw AVError.make(.operationNotSupportedForAsset) }
        let facts = try await withCheckedThrowingContinuation { continuation in
            media.prepare { continuation.resume(with: $0) }
        }
        return property.value(facts)
    }

    /// The values of two properties.
    public func load<First, Second>(
        _ first: AVAsyncProperty<Self, First>, _ second: AVAsyncProperty<Self, Second>,
        isolation: isolated (any Actor)? = #isolation
    ) async throws -> (First, Second) {
        (try await load(first), try await load(second))
    }
}
