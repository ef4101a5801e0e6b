// gives: cannot convert value of type 'Int' to specified type 'Int64'
import AVFoundation

func wanted(_ request: AVAssetResourceLoadingDataRequest) -> Int64 {
    #if MISTAKE
        let length: Int64 = request.requestedLength
    #else
        let length = Int64(request.requestedLength)
    #endif
    return length
}
