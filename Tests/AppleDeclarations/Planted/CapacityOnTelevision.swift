// gives: 'volumeAvailableCapacityForImportantUsage' is unavailable in tvOS
// on: tvOS
import Foundation

func room(_ values: URLResourceValues) -> Int64? {
    #if MISTAKE
        values.volumeAvailableCapacityForImportantUsage
    #else
        values.volumeAvailableCapacity.map(Int64.init)
    #endif
}
