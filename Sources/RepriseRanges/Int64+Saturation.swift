/// The sums, differences and products of offsets, sizes and times. What an origin or a client says enters them: a sum past what
/// 64 bits hold is `Int64.max`, which stands for "no end" everywhere, and nothing traps. On floors 0 to 3 there is no other `+`
/// and `*` of these (`scripts/checks/foreign`).
extension Int64 {
    /// The sum; `Int64.max` where 64 bits do not hold it.
    @inlinable package func adding(_ other: Int64) -> Int64 {
        let (sum, overflows) = addingReportingOverflow(other)
        return overflows ? .max : sum
    }

    /// The difference, `.max` or `.min` where it does not fit.
    @inlinable package func subtracting(_ other: Int64) -> Int64 {
        let (difference, overflows) = subtractingReportingOverflow(other)
        return overflows ? (self < 0 ? .min : .max) : difference
    }

    /// The product; `Int64.max` where 64 bits do not hold it. Of numbers that are not negative.
    @inlinable package func multiplied(by other: Int64) -> Int64 {
        let (product, overflows) = multipliedReportingOverflow(by: other)
        return overflows ? .max : product
    }
}
