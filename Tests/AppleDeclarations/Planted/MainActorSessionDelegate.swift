// gives: conformance of 'Delegate' to protocol 'URLSessionDataDelegate' crosses into main actor-isolated code
import Foundation

#if MISTAKE
    @MainActor
#endif
final class Delegate: NSObject, URLSessionDataDelegate {
    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {}
}
