// gives: 'span' is only available in visionOS 26.0 or newer
// on: visionOS
func count(_ bytes: [UInt8]) -> Int {
    #if MISTAKE
        bytes.span.count
    #else
        bytes[...].count
    #endif
}
