// gives: 'span' is only available in iOS 26.0 or newer
func count(_ bytes: [UInt8]) -> Int {
    #if MISTAKE
        bytes.span.count
    #else
        bytes[...].count
    #endif
}
