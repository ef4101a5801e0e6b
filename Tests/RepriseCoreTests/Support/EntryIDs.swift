@testable import RepriseCore

// Tests name things by numbers.
extension ReaderID: ExpressibleByIntegerLiteral {
    /// Its number.
    public init(integerLiteral value: Int) { self.init(number: value) }
}

extension TransferID: ExpressibleByIntegerLiteral {
    /// Its number.
    public init(integerLiteral value: Int) { self.init(number: value) }
}

extension RepresentationID: ExpressibleByIntegerLiteral {
    /// Its number.
    public init(integerLiteral value: Int) { self.init(number: value) }
}
