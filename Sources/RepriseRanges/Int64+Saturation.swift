extension Int64 {
    /// The sum; `Int64.max` where 64 bits do not hold it.
    package func adding(_ other: Int64) -> Int64 {
        let (sum, overflows) = addingReportingOverflow(other)
        return overflows ? .max : sum
    }
}
