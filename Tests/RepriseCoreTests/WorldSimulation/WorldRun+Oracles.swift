import Foundation
import RepriseHTTP
import ReprisePlatform
import RepriseRanges
import RepriseStorage
import RepriseTesting

@testable import RepriseCore

/// What must hold after every step, and once faults stop.
extension WorldRun {
    /// What an oracle says, with how the open entries stand.
    func violation(_ oracle: String, _ text: String) -> WorldViolation {
        let entries = world.cache.openEntries.map(\.explanation).joined(separator: "\n")
        return WorldViolation(oracle: oracle, text: text + "\n" + entries)
    }

    /// Whether a player has still to come to an end; what has none in sight is not waited for.
    func isReading(_ player: Player) -> Bool {
        !player.isAtEnd && player.failure == nil && player.position < 1 << 20
    }

    func expectTasksEnded(or words: String) throws {
        for task in tasks where !task.ending.hasCome { throw violation("liveness", "\(task.name) \(words)") }
    }

    func check() throws {
        if world.queues.goesInCircles {
            throw violation("liveness", "work goes in circles")
        }
        for player in players {
            guard let player, let text = player.violation else { continue }
            throw violation("bytes", "\(text) in \(player.path) at \(world.queues.time / millisecond) ms")
        }
        if let violation = found.all.first { throw violation }
        for (lease, object, isWhole) in leases.value
        where !isOneVersion(of: object)(lease.url.path, isWhole ? nil : 500) {
            throw WorldViolation(oracle: "bytes", text: "a file that was given away of \(plan.objects[object].path)")
        }
        if let broken = world.broken.all.first { throw WorldViolation(oracle: "state", text: broken) }
        for session in world.cache.openEntries {
            // As many windows as an entry may have requests, each with a chunk that passed its limit, and what is written.
            let bound: Int64 = (4 + 4) * (2048 + 1024)
            guard session.bytesInMemory <= bound else {
                throw WorldViolation(oracle: "resources", text: "\(session.bytesInMemory) bytes in memory")
            }
        }
        // Slots that were granted at this moment are used, or go back, with the next work.
        if slots != requests { world.queues.settle() }
        guard slots == requests else {
            throw WorldViolation(oracle: "state", text: "\(slots) connection slots for \(requests) requests")
        }
    }

    var slots: Int {
        ["origin.test", MirrorClient.host].reduce(0) { $0 + world.cache.environment.hosts.active("http://" + $1) }
    }

    var requests: Int { world.cache.openEntries.reduce(0) { $0 + $1.look { $0.requestCount } } }

    /// Once faults stop, no part is asked for more often than those who may need it, each twice, and what may be an overlap once more
    /// for each other part: after a power cut there may be as many gaps as blocks.
    /// - Parameters:
    ///   - number: So many requests came before.
    ///   - askers: Readers and operations that went on then.
    private func checkRequests(after number: Int, for askers: Int) throws {
        var counts: [String: Int] = [:]
        var parts: [String: Set<ByteRange>] = [:]
        for request in world.origin.log.dropFirst(number) {
            // What says that it is longer than anything is refused, and asked for until that is the last word.
            let length = world.origin.resource(at: request.path)?.content.length ?? 0
            guard length <= ResponseJudge.longestResource else { continue }
            let asked = "\(request.path) \(["Range", "Authorization", "Cookie"].map { request.fields[$0] ?? "" })"
            let count = counts[asked, default: 0] + 1
            counts[asked] = count
            if let range = request.range { parts[request.path, default: []].insert(range) }
            let isOverlap = request.range.map { $0.count <= WorldRun.overlap } ?? false
            let comparisons = isOverlap ? parts[request.path]?.count ?? 0 : 0
            guard count > 2 * (askers + 1) + comparisons else { continue }
            throw violation("cost", "asked again and again for \(asked)")
        }
    }

    /// Once faults stop every reader and operation ends in bounded time, and nothing is left of them.
    mutating func settle() throws {
        world.origin.setDown(false)
        isFirstDown.set(false)
        set(.sound)
        try? world.cache.setLimits(.none)
        for object in plan.objects.indices {
            // No mirror lags behind for ever: of two that differ no reader gets a whole.
            if let newest = world.origin.resource(at: plan.objects[object].path) {
                world.origin.change(mirrorPath(object)) { mirror in
                    // Of versions that nothing tells apart none can take another's place while it is being read.
                    if mirror.content != newest.content { mirror.behaviour.tag = .strong }
                    mirror.content = newest.content
                }
            }
            mend(mirrorPath(object))
            for user in 0..<WorldPlan.users { mend(path(object, user)) }
        }
        if isSuspended { operate(.resume, 0) }
        // What has no end in sight is not waited for.
        for index in players.indices
        where owners[index].map({ plan.objects[$0.object].length > WorldPlan.endless }) == true {
            players[index]?.leave()
            players[index] = nil
        }
        let asked = world.origin.requestCount
        let askers = players.count { $0 != nil } + tasks.count { !$0.ending.hasCome }
        world.queues.advance(130 * second)
        let started = world.queues.time
        while world.queues.time - started < 300 * second {
            for index in players.indices where players[index] != nil { held.remove(index) }
            try takeAll(1 << 20)
            try check()
            let isWaiting = players.contains { $0.map(isReading) ?? false }
            if !isWaiting, tasks.allSatisfy({ $0.ending.hasCome }) { break }
            world.queues.advance(second)
        }
        for player in players.compactMap({ $0 }) where isReading(player) {
            throw violation("liveness", "a reader of \(player.path) hangs at \(player.position)")
        }
        try expectTasksEnded(or: "never ends")
        dropPlayers()
        leases.set([])
        world.queues.advance(200 * second)
        try check()
        try checkRequests(after: asked, for: askers)
        try checkFreshness()
        world.queues.advance(200 * second)
        try check()
        try checkNothingLeft()
        try replay()
        try checkClosed()
        app.asked.value.forEach { met[$0.key, default: 0] += $0.value }
    }

    /// What is at a path is served well from now on.
    func mend(_ path: String) {
        world.origin.change(path) { resource in
            resource.behaviour.body = .none
            resource.behaviour.status = nil
            resource.behaviour.contentRange = .none
            resource.behaviour.loginPage = false
            resource.behaviour.redirect = nil
            resource.behaviour.firstByteDelay = 0
            if resource.content.length < WorldPlan.endless { resource.behaviour.bytesPerSecond = 0 }
            // Without a strong tag a strict policy takes a resource in one answer.
            if plan.isStrict { resource.behaviour.longestRange = nil }
        }
    }

    func checkNothingLeft() throws {
        let sessions = world.cache.openEntries
        guard sessions.isEmpty else {
            throw WorldViolation(
                oracle: "resources",
                text: "\(sessions.count) sessions never close\n" + sessions.map(\.explanation).joined(separator: "\n"))
        }
        let environment = world.cache.environment
        guard environment.unwritten.count == 0 else {
            throw WorldViolation(oracle: "resources", text: "\(environment.unwritten.count) bytes never written")
        }
        guard slots == 0 else {
            throw WorldViolation(oracle: "resources", text: "connection slots are never released")
        }
    }

    /// Who asks for what the origin has now gets that, to its last byte: where freshness is HTTP's by saying so, and of what is
    /// never stored always.
    mutating func checkFreshness() throws {
        for (object, spec) in plan.objects.enumerated() where spec.length < WorldPlan.endless {
            guard plan.isShared || spec.contentType == "application/vnd.apple.mpegurl" else { continue }
            let newest = versions[object * WorldPlan.users].suffix(1)
            for attempt in 1...3 {
                let refused = refusedPlayer(of: object)
                defer { refused?.leave() }
                let player = world.player(spec.path, fields: plan.isShared ? ["Cache-Control": "no-cache"] : [:])
                player.knownGenerations = Array(newest)
                player.play()
                defer { player.leave() }
                if !player.isAtEnd, player.failure == nil {
                    throw violation("liveness", "\(spec.path) read afresh hangs at \(player.position)")
                }
                if let violation = player.violation {
                    throw WorldViolation(oracle: "freshness", text: "\(violation) in \(spec.path), version \(newest)")
                }
                meet("fresh read")
                if player.isAtEnd { break }
                guard attempt < 3 || mayEnd(player) else {
                    throw violation(
                        player.failure == nil ? "liveness" : "freshness",
                        "\(spec.path) ended with \(String(describing: player.failure))")
                }
            }
        }
    }

    /// What is complete is not asked for again, where nothing has to be confirmed.
    mutating func checkCost(_ object: Int) throws {
        let spec = plan.objects[object]
        let resource = world.cache.resource(for: OriginURL("http://origin.test" + spec.path)!)
        if met["powerCut"] != nil {
            // What the power cut damaged, and was handed on from memory since, is found by reading it.
            Task(executorPreference: world.queues) { try await resource.repair() }
            world.queues.advance(60 * second)
        }
        let isComplete = world.cache.table.open(resource.request.key)?.look { $0.offersAll }
        guard !plan.isShared, isComplete == true else { return }
        meet("cost")
        world.queues.advance(10 * second)
        let requests = world.origin.requestCount
        told.add(.note("second read of \(spec.path)"))
        let player = world.player(spec.path)
        player.knownGenerations = versions[object * WorldPlan.users]
        player.finish()
        guard player.isAtEnd, world.origin.requestCount == requests else {
            throw violation(
                "cost", "\(spec.path) was stored, and asked for \(world.origin.requestCount - requests) times")
        }
    }

    /// What a strict policy cannot show to go on ends, each time.
    func mayEnd(_ player: Player) -> Bool { plan.isStrict && player.failure != nil }

    /// What is stored is right after a restart; a reader that began on old bytes may be told so once.
    mutating func replay() throws {
        try world.restart()
        listen()
        for (object, spec) in plan.objects.enumerated() where spec.length < WorldPlan.endless {
            for attempt in 1...3 {
                let refused = refusedPlayer(of: object)
                defer { refused?.leave() }
                let player = world.player(spec.path)
                player.knownGenerations = versions[object * WorldPlan.users]
                player.finish()
                if let violation = player.violation {
                    throw WorldViolation(oracle: "durability", text: "\(violation) in \(spec.path) after a restart")
                }
                told.add(.note("\(spec.path) read to \(player.position), at end: \(player.isAtEnd)"))
                if player.isAtEnd {
                    try checkCost(object)
                    break
                }
                guard attempt < 3 || mayEnd(player) else {
                    throw WorldViolation(
                        oracle: "liveness",
                        text: "\(spec.path) after a restart ended with \(String(describing: player.failure))")
                }
            }
        }
    }

    /// One that reads at the same time, and that the origin refuses: others have nothing of that.
    mutating func refusedPlayer(of object: Int) -> Player? {
        let path = plan.objects[object].path
        guard let user = world.origin.resource(at: path)?.behaviour.refusals.keys.first else { return nil }
        meet("refused user")
        let player = world.player(path, fields: ["Authorization": user])
        player.knownGenerations = versions[object * WorldPlan.users]
        player.take()
        return player
    }

    /// After closing nothing reaches the origin.
    func checkClosed() throws {
        try close(world.cache, within: 60 * second)
        let requests = world.origin.requestCount
        let player = world.player(plan.objects[0].path)
        player.play(patience: second)
        player.leave()
        guard world.origin.requestCount == requests, player.received == 0, player.failure != nil else {
            throw WorldViolation(oracle: "closed", text: "a closed cache still answers")
        }
        // A process that was killed, or a copy, leaves descriptors as it likes.
        guard met["kill"] == nil, met["powerCut"] == nil, world.memory.openHandles > 0 else { return }
        throw WorldViolation(oracle: "resources", text: "\(world.memory.openHandles) files stay open")
    }
}
