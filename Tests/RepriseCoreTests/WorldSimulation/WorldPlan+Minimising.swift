import RepriseTesting

/// A failing run made small: what it does not need is left out.
extension WorldPlan {
    /// Leaves out steps, time, faults and settings as long as what is left still fails.
    func minimised(while fails: (WorldPlan) -> Bool) -> WorldPlan {
        var plan = self
        func attempt(_ change: (inout WorldPlan) -> Void) -> Bool {
            var smaller = plan
            change(&smaller)
            guard fails(smaller) else { return false }
            plan = smaller
            return true
        }
        var size = max(1, plan.steps.count / 2)
        while size >= 1 {
            var start = 0
            while start < plan.steps.count {
                let range = start..<min(start + size, plan.steps.count)
                if !attempt({ $0.steps.removeSubrange(range) }) { start += size }
            }
            if size == 1 { break }
            size /= 2
        }
        for (isSet, setting) in [
            (isShared, \WorldPlan.isShared), (isSealed, \.isSealed), (hasMirror, \.hasMirror), (isStrict, \.isStrict),
        ]
        where isSet {
            // Where not many share a cache, users are answered apart only what is never stored.
            if setting == \.isShared, plan.objects.contains(where: \.isPerUser) { continue }
            _ = attempt { $0[keyPath: setting] = false }
        }
        if admitting != .everything { _ = attempt { $0.admitting = .everything } }
        if refreshing != .never { _ = attempt { $0.refreshing = .never } }
        for index in plan.steps.indices {
            if plan.steps[index].time > 0 { _ = attempt { $0.steps[index].time = 0 } }
            if plan.steps[index].bytes > 0 { _ = attempt { $0.steps[index].bytes = 0 } }
            guard case .behave(let object, let behaviour) = plan.steps[index].action else { continue }
            for fault in plan.faults(of: object) where fault.isSet(behaviour) {
                _ = attempt { smaller in
                    guard case .behave(_, var sounder) = smaller.steps[index].action else { return }
                    fault.mend(&sounder)
                    smaller.steps[index].action = .behave(object: object, sounder)
                }
            }
        }
        for index in plan.objects.indices {
            for fault in plan.faults(of: index) where fault.isSet(plan.objects[index].behaviour) {
                _ = attempt { fault.mend(&$0.objects[index].behaviour) }
            }
        }
        return plan
    }

    /// One way in which a behaviour differs from the usual one.
    private struct Fault {
        let isSet: (OriginBehaviour) -> Bool
        let mend: (inout OriginBehaviour) -> Void

        init<Value: Equatable>(_ property: WritableKeyPath<OriginBehaviour, Value>) {
            let usual = OriginBehaviour()[keyPath: property]
            isSet = { $0[keyPath: property] != usual }
            mend = { $0[keyPath: property] = usual }
        }
    }

    private func faults(of object: Int) -> [Fault] {
        let faults = [
            Fault(\.ranges), Fault(\.contentRange), Fault(\.longestRange), Fault(\.widensRanges), Fault(\.framing),
            Fault(\.body), Fault(\.explainsRefusals), Fault(\.tellsTotalInRefusals),
            Fault(\.faultyRequests), Fault(\.tag), Fault(\.hasLastModified), Fault(\.heedsIfRange),
            Fault(\.heedsIfNoneMatch), Fault(\.status),
            Fault(\.refusals),
            Fault(\.retryAfter), Fault(\.gzipsAnyway), Fault(\.gzipsForTakers), Fault(\.icyMetadata),
            Fault(\.earlyHints), Fault(\.redirect),
            Fault(\.loginPage), Fault(\.firstByteDelay), Fault(\.bytesPerSecond),
        ]
        // They tell the cache that users are answered apart.
        return objects[object].isPerUser ? faults : faults + [Fault(\.contentType), Fault(\.extraFields)]
    }

    /// What of a behaviour is not the usual.
    static func text(_ behaviour: OriginBehaviour) -> String {
        let usual = Mirror(reflecting: OriginBehaviour()).children.map { "\($0.value)" }
        return Mirror(reflecting: behaviour).children.enumerated()
            .filter { "\($0.element.value)" != usual[$0.offset] }
            .map { "\($0.element.label ?? "") \($0.element.value)" }.joined(separator: ", ")
    }
}
