"""The twenty mistakes that adapters to AVPlayer are known for. A test has the number of each in its name."""

LOADER = "Sources/RepriseAVFoundation/Loader/"
ASSET, TASK = LOADER + "AssetLoader.swift", LOADER + "LoadingTask.swift"

# Number: (file, what stands there, what the mistake makes of it).
MISTAKES = {
    1: (LOADER + "Companion.swift", "unsafe objc_setAssociatedObject(owner, key, holder, .OBJC_ASSOCIATION_RETAIN)", "_ = holder"),
    2: (LOADER + "MediaCache+Asset.swift", "asset.resourceLoader.setDelegate(loader, queue: loader.queue)",
        "loader.queue.async { asset.resourceLoader.setDelegate(loader, queue: loader.queue) }\n                loader.queue.suspend()"),
    3: (LOADER + "MediaCache+Asset.swift", "setDelegate(loader, queue: loader.queue)", "setDelegate(loader, queue: nil)"),
    4: (ASSET, "            queue.async { self.begin(request) }", "            queue.async { [weak request] in if let request { self.begin(request) } }"),
    5: (ASSET, "                task.request.finishLoading()\n            }\n        }",
        "                if task.request.contentInformationRequest == nil { task.request.finishLoading() }\n            }\n        }"),
    6: (ASSET, "            task.stage = .feeding\n            described", "            content.contentType = nil\n            task.stage = .feeding\n            described"),
    7: (ASSET, "content.contentLength = answer.length", "content.contentLength = 2"),
    8: (LOADER + "ContentAnswer.swift", "contentType = ContentAnswer.fit(type, to: allowed)", "contentType = info.contentType ?? type"),
    9: (TASK, "data.requestsAllDataToEndOfResource || overflows || data.requestedLength == Int.max", "false"),
    10: (ASSET, "            case .pending: return false\n            case .memory", "            case .pending:\n                endWait(task)\n                finish(task, nil)\n                return false\n            case .memory"),
    11: (TASK, "return max(0, end - data.currentOffset)", "return max(0, end - data.requestedOffset)"),
    12: (ASSET, "            guard let task = tasks[ObjectIdentifier(request)] else { return }\n            close(task)", "            for task in ordered { close(task) }"),
    13: (ASSET, "else { return }\n            close(task)\n        }",
         "else { return }\n            close(task)\n            let (resource, done) = (resource, DispatchSemaphore(value: 0))\n"
         "            Task {\n                defer { done.signal() }\n                try await resource.remove()\n            }\n"
         "            done.wait()\n        }"),
    14: (ASSET, "            guard !isWatching, !tasks.isEmpty else { return }", "            guard isWatching, !tasks.isEmpty else { return }"),
    15: (ASSET, "            queue.async { self.begin(request) }",
         "            let done = DispatchSemaphore(value: 0)\n            let handle = resource.makeHandle(in: ByteRange(0, 2))\n            if case .success(nil) = handle.info(wake: { done.signal() }) { done.wait() }\n            queue.async { self.begin(request) }"),
    16: (LOADER + "LoadingPlan.swift", "static let burst: Int64 = 2 << 20", "static let burst: Int64 = 1 << 40"),
    17: ("Sources/RepriseURLSession/Client/SessionTable.swift", "template.urlCache = nil", "template.urlCache = .shared\n        template.requestCachePolicy = .returnCacheDataElseLoad"),
    18: ("Sources/RepriseAVFoundation/Player", "automaticallyWaitsToMinimizeStalling = false", "automaticallyWaitsToMinimizeStalling = true"),
    19: (LOADER + "LoadingError.swift", "NSLocalizedDescriptionKey: error.message,", "NSLocalizedDescriptionKey: error.message, NSUnderlyingErrorKey: NSError(domain: \"own\", code: 1),"),
    20: (ASSET, 'queue = DispatchQueue(label: "reprise.asset", qos: .userInitiated)', "queue = .main"),
}
