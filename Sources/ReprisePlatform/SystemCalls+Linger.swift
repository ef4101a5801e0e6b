#if canImport(Darwin)
    package import Darwin
#elseif canImport(Glibc)
    package import Glibc
#elseif canImport(Musl)
    package import Musl
#endif

extension SystemCalls {
    /// The value of `SO_LINGER` by which closing a connection resets it: its other side sees an error, not an end.
    package static var resetsAtClose: linger { linger(l_onoff: 1, l_linger: 0) }
    /// As a connection begins: what was sent is still delivered, and then its end.
    package static var endsAtClose: linger { linger(l_onoff: 0, l_linger: 0) }
}
