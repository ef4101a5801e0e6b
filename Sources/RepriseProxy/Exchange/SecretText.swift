/// Comparing what is given with what is secret.
package enum SecretText {
    /// Whether both are equal; takes as long for a nearly right text as for a wrong one.
    package static func areEqual(_ left: String, _ right: String) -> Bool {
        let left = Array(left.utf8)
        let right = Array(right.utf8)
        guard left.count == right.count else { return false }
        return zip(left, right).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
