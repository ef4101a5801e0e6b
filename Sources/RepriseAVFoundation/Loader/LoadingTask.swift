#if canImport(AVFoundation) && !os(watchOS)
    import AVFoundation
    import RepriseCore

    /// A loading request that is being answered: the request, held strongly as the system does not, and our reader of its
    /// bytes.
    // @unchecked: confined to its loader's queue.
    final class LoadingTask: @unchecked Sendable {
        enum Stage {
            /// The content has to be described first.
            case describing
            /// It was described to another request: this one has to be for the same version.
            case comparing
            case feeding
            case done
        }

        let id: Int
        let request: AVAssetResourceLoadingRequest
        let handle: ReaderHandle
        var stage: Stage
        /// Whether a read, a timer or the engine will call: nothing is to be asked for meanwhile.
        var isWaiting = false
        /// First bytes that were read in order to see what they are, and their offset.
        var head: (offset: Int64, bytes: ArraySlice<UInt8>)?
        /// Ends a wait that is not worth waiting for any more: a late call of it does nothing.
        var turn = 0

        init(id: Int, request: AVAssetResourceLoadingRequest, handle: ReaderHandle) {
            self.id = id
            self.request = request
            self.handle = handle
            stage = request.contentInformationRequest == nil ? .comparing : .describing
        }

        /// Whether the system has ended the request itself: cancelled it, or finished it as `cancelLoading` does, which
        /// no callback tells.
        var isEndedBySystem: Bool { request.isCancelled || request.isFinished }

        /// The next byte the request wants: the system's own count.
        var position: Int64 { request.dataRequest?.currentOffset ?? 0 }

        /// Bytes still wanted; `nil` for all to the end of the resource.
        var remaining: Int64? {
            guard let data = request.dataRequest else { return 0 }
            guard let end = Self.range(of: data).end else { return nil }
            return max(0, end - data.currentOffset)
        }

        /// What a data request asks for. To-end is a property of the range: its length is `Int.max` while none is known.
        static func range(of data: AVAssetResourceLoadingDataRequest) -> LoadingPlan.Request {
            let (end, overflows) = data.requestedOffset.addingReportingOverflow(Int64(data.requestedLength))
            let isToEnd = data.requestsAllDataToEndOfResource || overflows || data.requestedLength == Int.max
            return LoadingPlan.Request(offset: data.requestedOffset, end: isToEnd ? nil : end)
        }
    }
#endif
