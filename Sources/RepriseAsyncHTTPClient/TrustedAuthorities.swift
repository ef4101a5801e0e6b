#if Server
    import NIOSSL

    /// The certificate authorities that vouch for origins, in place of the system's.
    public struct TrustedAuthorities: Sendable {
        /// A file that names none.
        public struct Unusable: Error, Hashable, Sendable, CustomStringConvertible {
            /// The file.
            public let path: String

            /// What it should be.
            public var description: String {
                "\(path) holds no certificates that can be read; a PEM file of the authorities to be trusted is wanted"
            }
        }

        let certificates: [NIOSSLCertificate]

        /// Reads the certificates of a PEM file.
        public init(file path: String) throws(Unusable) {
            guard let certificates = try? NIOSSLCertificate.fromPEMFile(path), !certificates.isEmpty else {
                throw Unusable(path: path)
            }
            self.certificates = certificates
        }
    }
#endif
