public import RepriseCore
import RepriseRanges

/// A transform for tests: combines each byte with one that depends on its position alone. It is its own inverse.
public struct PositionKeystream: ContentTransform {
    private let stream: PositionCodedContent

    /// Makes one; another number gives other bytes.
    public init(_ number: Int = 1) {
        stream = PositionCodedContent(length: .max, generation: 1000 + number, signature: [])
    }

    /// Combines `bytes`, which begin at `offset` in bytes, with the bytes of their place.
    public func apply(to bytes: inout [UInt8], at offset: Int64) {
        // Elsewhere than content of the same pattern has the same lines.
        let range = ByteRange(offset: (1 << 40) + 5 + offset, count: Int64(bytes.count))
        bytes.combine(with: stream.bytes(in: range)[...])
    }
}

extension ScriptedOrigin.Resource {
    /// Makes an object that is `content` after `transform`, which has to be its own inverse.
    public init(
        _ content: PositionCodedContent, before transform: any ContentTransform,
        _ behaviour: OriginBehaviour = OriginBehaviour()
    ) {
        var bytes = content.bytes(in: ByteRange(0, content.length))
        transform.apply(to: &bytes, at: 0)
        self.init(literal: bytes, behaviour)
        // Whose generation its entity tag tells.
        self.content = content
    }
}
