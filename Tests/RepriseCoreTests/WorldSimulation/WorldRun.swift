import Foundation
import RepriseHTTP
import ReprisePlatform
import RepriseRanges
import RepriseStorage
import RepriseTesting

@testable import RepriseCore

/// What an oracle says of a run.
struct WorldViolation: Error, CustomStringConvertible {
    /// Which oracle spoke.
    let oracle: String
    let text: String

    /// The oracle and its words up to the first number, which is another in a smaller plan.
    var kind: String { "\(oracle): \(text.prefix { !$0.isNumber })" }

    var description: String { "\(oracle): \(text)" }
}

/// A line of what happened in a run; most are never read, so they are made into text only then.
enum Told: Sendable, CustomStringConvertible {
    /// What the cache told, after so many milliseconds.
    case event(CacheEvent, at: Int64)
    case note(String)

    var description: String {
        switch self {
        case .event(let event, let time): "\(time) \(event)"
        case .note(let text): text
        }
    }
}

/// Whether an operation has ended.
private final class Ending: Sendable {
    private let state = Lock(false)

    var hasCome: Bool { state.withLock { $0 } }

    func come() { state.withLock { $0 = true } }
}

/// Carries a plan out and asks the oracles after every step and at the end.
struct WorldRun {
    private let plan: WorldPlan
    private let world: World
    private var players: [Player?] = Array(repeating: nil, count: WorldPlan.players)
    private var held = Set<Int>()
    private var owners: [Int: (object: Int, user: Int)] = [:]
    /// Of players that asked for what the origin has now: how many versions were older then.
    private var outdated: [Int: Int] = [:]
    /// Versions an object has had, for each user; no two objects or users share one.
    private var versions: [[Int]]
    private var tasks: [(name: String, ending: Ending)] = []
    private var isSuspended = false
    private let isFirstDown = Shared(false)
    private let app: WorldApp
    /// Files that were given away, until the operation after next on their object.
    private let leases = Shared<[(lease: FileLease, object: Int, isWhole: Bool)]>([])
    /// What operations found wrong that nobody waits for.
    private let found = Recorder<WorldViolation>()
    /// How often each generated thing was met.
    private(set) var met: [String: Int] = [:]
    /// What the cache told and what was read at the end.
    let told = Recorder<Told>()
    private var subscription: EventSubscription?

    init(_ plan: WorldPlan) throws {
        self.plan = plan
        let (isShared, isFirstDown) = (plan.isShared, isFirstDown)
        let (app, found) = (WorldApp(plan), found)
        self.app = app
        let perUser = Set(plan.objects.filter(\.isPerUser).map(\.path))
        world = try World(
            seed: plan.seed, isOrdered: false, blockSize: plan.blockSize, pieceSize: plan.chunkSize
        ) {
            $0.tuning.firstRequest = 512
            $0.tuning.readAhead = 768
            $0.tuning.windowLimit = 2048
            $0.tuning.joinDistance = 512
            $0.tuning.leastReach = 64
            $0.tuning.inheritDistance = 128
            $0.tuning.windDown = 128
            $0.tuning.overlap = 32
            $0.tuning.withheld = 300
            $0.tuning.unwrittenLimit = 16_384
            $0.tuning.spareBehind = 256
            $0.tuning.spareAhead = 512
            if plan.isStrict { $0.sameness = SamenessRules(.strict) }
            if isShared {
                $0.freshness = .http
                $0.followsRedirects = plan.seed.isMultiple(of: 2)
            }
            if plan.isSealed { $0.seal = .testing }
            app.configure(&$0)
            if plan.hasMirror, let group = HostGroup(["origin.test", MirrorClient.host]) { $0.hostGroups = [group] }
        } through: { queues, client in
            var client: any OriginClient = MirrorClient(
                PerUserClient(client, paths: perUser), queues: queues, isFirstDown: isFirstDown)
            // Where many share the cache, one user's 429 is for that user.
            if !isShared {
                client = RestingClient(client, queues: queues) {
                    found.add(WorldViolation(oracle: "cost", text: $0))
                }
            }
            return plan.tellsDates ? HeadChangingClient.dated(client, queues: queues) : client
        }
        app.begin(world)
        world.memory.losePower()
        try world.memory.makeDirectory("/copies")
        world.queues.tellCircles(after: 100_000, inAll: 2_000_000)
        versions = Array(repeating: [], count: plan.objects.count * WorldPlan.users)
        for object in plan.objects.indices { publish(object, plan.objects[object].length) }
    }

    private mutating func listen() {
        let (queues, told) = (world.queues, told)
        subscription = world.cache.onEvent { told.add(.event($0, at: queues.time / millisecond)) }
    }

    private func path(_ object: Int, _ user: Int) -> String {
        let path = plan.objects[object].path
        return plan.objects[object].isPerUser && user > 0 ? "\(path)-\(user)" : path
    }

    /// Puts new bytes at an object's paths.
    private mutating func publish(_ object: Int, _ length: Int64) {
        for user in 0..<(plan.objects[object].isPerUser ? WorldPlan.users : 1) {
            let index = object * WorldPlan.users + user
            let version = index * 1000 + versions[index].count + 1
            versions[index].append(version)
            let behaviour = world.origin.resource(at: path(object, user))?.behaviour ?? plan.objects[object].behaviour
            let content = PositionCodedContent(length: length, generation: version, signature: [])
            world.origin.put(.init(content, behaviour), at: path(object, user))
            guard user == 0 else { continue }
            let plain = plan.objects[object].behaviour
            world.origin.put(.init(content, plain), at: "/moved" + plan.objects[object].path)
            // A mirror may lag behind; what it has was the object once.
            if version % 3 == 2 { continue }
            let mirror = mirrorPath(object)
            var mirrored = world.origin.resource(at: mirror)?.behaviour ?? plain
            mirrored.tagMark = "-mirror"
            world.origin.put(.init(content, mirrored), at: mirror)
        }
    }

    private func mirrorPath(_ object: Int) -> String { "/mirror" + plan.objects[object].path }

    private mutating func meet(_ name: String) { met[name, default: 0] += 1 }

    // MARK: Steps

    mutating func run() throws {
        defer { app.end() }
        listen()
        for object in plan.objects {
            (WorldPlan.kinds(object) + WorldPlan.kinds(object.behaviour)).forEach { meet($0) }
        }
        meet("admitting \(plan.admitting)")
        meet("refreshing \(plan.refreshing)")
        if plan.tellsDates { meet("Retry-After as a date") }
        for step in plan.steps {
            try act(step.action)
            world.queues.advance(step.time)
            try takeAll(step.bytes)
            try check()
        }
        try endure()
        try settle()
    }

    /// While the origin's faults last no reader and no operation waits for ever: each ends, or goes on, in bounded time.
    private mutating func endure() throws {
        guard plan.seed % 3 == 0 else { return }
        meet("lasting faults")
        set(.sound)
        try? world.cache.setLimits(.none)
        if isSuspended { operate(.resume, 0) }
        held.removeAll()
        var positions: [Int64?] = []
        for _ in 0..<4 {
            positions = players.map { $0?.position }
            // Who comes later than a second for what cannot be stored is left behind.
            for _ in 0..<100 {
                world.queues.advance(600 * millisecond)
                try takeAll(1 << 20)
                try check()
            }
        }
        for (player, position) in zip(players, positions) where player.map(isReading) ?? false {
            guard let player, player.position == position else { continue }
            throw violation("liveness", "a reader of \(player.path) waits at \(player.position) while the origin fails")
        }
        try expectTasksEnded(or: "goes on while the origin fails")
    }

    private mutating func behaveAtMirror(_ object: Int, _ behaviour: OriginBehaviour) {
        meet("mirror's behaviour")
        world.origin.change(mirrorPath(object)) {
            $0.behaviour = behaviour
            $0.behaviour.tagMark = "-mirror"
        }
    }

    private mutating func act(_ action: WorldPlan.Action) throws {
        switch action {
        case .open(let player, let object, let user, let range, let control, let isKept, let usesReadPool):
            meet("open")
            open(player, object, user, range, control, isKept)
            players[player]?.usesReadPool = usesReadPool
        case .leave(let player):
            players[player]?.leave()
            players[player] = nil
        case .seek(let player, let position):
            players[player]?.seek(to: position)
            sendHead(player)
        case .hold(let player, let isHeld): if isHeld { held.insert(player) } else { held.remove(player) }
        case .change(let object, let length):
            meet("change")
            publish(object, length ?? world.origin.resource(at: plan.objects[object].path)?.content.length ?? 0)
        case .behave(let object, let behaviour):
            WorldPlan.kinds(behaviour).forEach { meet($0) }
            // Not drawn, so that a seed is the same plan as before.
            guard !plan.hasMirror || !behaviour.earlyHints else { return behaveAtMirror(object, behaviour) }
            for user in 0..<WorldPlan.users { world.origin.change(path(object, user)) { $0.behaviour = behaviour } }
        case .down(let isDown):
            meet("down")
            world.origin.setDown(isDown)
        case .disk(let disk):
            meet("disk \(disk)")
            set(disk)
        case .limit(let limit): try? world.cache.setLimits(limit.map { StoreLimits(bytes: $0) } ?? .none)
        case .operate(let operation, let object):
            meet("\(operation)")
            operate(operation, object)
        case .mirror(let isDown):
            guard plan.hasMirror else { return }
            meet("mirror")
            isFirstDown.set(isDown)
        case .clock(let seconds):
            meet("clock")
            world.queues.jumpWallClock(by: seconds)
        case .stall(let time):
            meet("stall")
            world.queues.stall(time)
        case .otherProcess(let object): try runElsewhere(object)
        case .close: try close()
        case .restart, .kill, .powerCut:
            // A process that ends gives its store back first, and its readers with it.
            guard !isSuspended else { return }
            dropPlayers()
            set(.sound)
            switch action {
            case .kill: try kill()
            case .powerCut: try world.kill(powerCut: plan.seed)
            default: try world.restart()
            }
            leases.set([])
            listen()
            meet("\(action)")
        case .wait: break
        }
    }

    /// What was complete by then is there afterwards, and needs no origin.
    private mutating func kill() throws {
        let isSound = met.keys.allSatisfy { !$0.hasPrefix("disk ") || ["disk sound", "disk slow"].contains($0) }
        let complete = plan.objects.indices.filter { object in
            let key = world.cache.resource(for: OriginURL("http://origin.test" + plan.objects[object].path)!).key
            return world.cache.table.open(key)?.look { entry in
                entry.offersAll && entry.openFiles.contains(where: \.isCommitted) && !entry.hasUnwritten
            } ?? false
        }
        try world.kill()
        guard isSound, !plan.isShared, met["powerCut"] == nil, !complete.isEmpty else { return }
        meet("complete before a kill")
        world.origin.setDown(true)
        for object in complete {
            let player = world.player(plan.objects[object].path)
            player.knownGenerations = versions[object * WorldPlan.users]
            player.finish()
            guard player.isAtEnd, player.violation == nil else {
                throw violation(
                    "durability",
                    "\(plan.objects[object].path) was complete, and is read to \(player.position) after a kill")
            }
            player.leave()
        }
        world.origin.setDown(false)
    }

    private mutating func dropPlayers() {
        for index in players.indices {
            players[index]?.leave()
            players[index] = nil
        }
    }

    private func close(_ cache: MediaCache, within nanoseconds: Int64, _ whose: String = "") throws {
        let ending = Ending()
        Task(executorPreference: world.queues) {
            await cache.close()
            ending.come()
        }
        world.queues.advance(nanoseconds)
        guard ending.hasCome else { throw WorldViolation(oracle: "closed", text: "\(whose)close() never returns") }
    }

    /// A cache that was closed has ended all that it did, and asks the origin for nothing; then it is opened again.
    private mutating func close() throws {
        meet("close")
        try close(world.cache, within: 130 * second)
        set(.sound)
        let requests = world.origin.requestCount
        world.queues.advance(300 * second)
        held.removeAll()
        try takeAll(1 << 20)
        try check()
        for player in players.compactMap({ $0 }) where !player.isAtEnd && player.failure == nil {
            throw WorldViolation(
                oracle: "closed", text: "a reader of \(player.path) at \(player.position) goes on after close()")
        }
        for task in tasks where !task.ending.hasCome {
            throw WorldViolation(oracle: "closed", text: "\(task.name) goes on after close()")
        }
        guard world.origin.requestCount == requests else {
            throw WorldViolation(oracle: "closed", text: "a closed cache asks the origin")
        }
        dropPlayers()
        leases.set([])
        isSuspended = false
        try world.reopen()
        listen()
    }

    /// Another process has the store while this one has given it away, and only then.
    private mutating func runElsewhere(_ object: Int) throws {
        let other: MediaCache
        do { other = try world.openElsewhere() } catch { return meet("root in use") }
        guard world.cache.status != .ready else {
            throw WorldViolation(oracle: "closed", text: "two processes hold one root")
        }
        meet("other process")
        let path = plan.objects[object].path
        let resource = other.resource(for: OriginURL("http://origin.test" + path)!)
        let player = Player(world, path, .from(0), resource: resource)
        player.mayGetPage = true
        player.knownGenerations = versions[object * WorldPlan.users]
        player.play(to: 2000, patience: second)
        if let violation = player.violation {
            throw WorldViolation(oracle: "bytes", text: "\(violation) in \(path), read by another process")
        }
        player.leave()
        try close(other, within: 300 * second, "another process's ")
    }

    /// What a user's requests carry.
    private func fields(of user: Int, _ object: Int) -> HTTPFields {
        var fields = HTTPFields()
        guard user > 0 else { return fields }
        if plan.objects[object].userField == "Cookie" {
            fields["Cookie"] = "user=\(user)"
        } else {
            fields["Authorization"] = "\(user)"
        }
        if plan.isShared { fields["Accept-Language"] = user == 1 ? "de" : "en" }
        return fields
    }

    /// Tells whether a file has the bytes of one version of an object, all or the first ones.
    private func isOneVersion(of object: Int) -> @Sendable (_ path: String, _ count: Int?) -> Bool {
        let (memory, first) = (world.memory, object * WorldPlan.users)
        return { path, count in
            // A store may be sealed, and a file removed.
            guard let bytes = try? memory.contents(path) else { return true }
            let wanted = bytes.prefix(count ?? bytes.count)
            return (first..<first + WorldPlan.users).contains { index in
                (1...60).contains { number in
                    PositionCodedContent(length: .max, generation: index * 1000 + number, signature: [])
                        .firstMismatch(wanted, at: 0) == nil
                }
            }
        }
    }

    private mutating func open(
        _ index: Int, _ object: Int, _ user: Int, _ range: ByteRange, _ control: String?, _ isKept: Bool
    ) {
        players[index]?.leave()
        held.remove(index)
        var fields = fields(of: user, object)
        if let control { fields["Cache-Control"] = control }
        let path = plan.objects[object].path
        let resource = world.cache.resource(
            for: OriginURL("http://origin.test" + path)!, fields: fields, storing: isKept ? .normal : .doNotStore)
        // Not drawn, so that a seed is the same plan as before there were such readers.
        let takesAnyAnswer = (index + object + user).isMultiple(of: 2)
        if takesAnyAnswer { meet("a client of any answer") }
        // Nor who takes codings.
        if plan.isShared, !index.isMultiple(of: 3) { fields["Accept-Encoding"] = "br, gzip" }
        let player = Player(world, path, range, fields: fields, resource: resource, takesAnyAnswer: takesAnyAnswer)
        player.mayGetPage = true
        player.getsAnswers = takesAnyAnswer && control != "only-if-cached" && plan.refreshing == .never
        owners[index] = (object, user)
        outdated[index] = nil
        if control == "no-cache", !believesWeakTags(object) {
            meet("no-cache, by versions")
            outdated[index] = versions(of: object, user).count - 1
        }
        players[index] = player
    }

    /// Whether an origin has one weak tag for all versions at some time: what it calls the same is believed to be.
    private func believesWeakTags(_ object: Int) -> Bool {
        plan.objects[object].behaviour.tag == .weakShared
            || plan.steps.contains { step in
                guard case .behave(object, let behaviour) = step.action else { return false }
                return behaviour.tag == .weakShared
            }
    }

    /// The versions of an object that a user may see.
    private func versions(of object: Int, _ user: Int) -> [Int] {
        versions[object * WorldPlan.users + (plan.objects[object].isPerUser ? user : 0)]
    }

    /// A client that seeks asks by HEAD before, through a shared cache. Not drawn, so that a seed is the same plan as before.
    private mutating func sendHead(_ index: Int) {
        guard plan.isShared, let player = players[index], let owner = owners[index], !world.origin.isDown else {
            return
        }
        meet("HEAD")
        let fields = fields(of: owner.user, owner.object)
        let answer = world.origin.answer(method: "HEAD", target: path(owner.object, owner.user), fields: fields)
        let head = OriginResponseHead(status: answer.status, fields: answer.fields)
        // Now and then another request changes something while it is under way.
        let sentAt = world.queues.time - (index == 0 ? second : 0)
        player.handle.answeredHead(head, to: fields, sentAt: sentAt)
    }

    /// A reader may have bytes of any version of its object that its user may see; who asked for what the origin has now, of no
    /// older one.
    private mutating func takeAll(_ bytes: Int64) throws {
        for (index, player) in players.enumerated() {
            guard let player, !held.contains(index), player.wasWoken, let owner = owners[index] else { continue }
            player.knownGenerations = Array(versions(of: owner.object, owner.user).dropFirst(outdated[index] ?? 0))
            let (wasOther, wasCoded) = (player.other != nil, player.isCoded)
            var rest = bytes - player.take(bytes)
            if !wasOther, let status = player.other?.status { meet("handed on \(status)") }
            if !wasCoded, player.isCoded { meet("handed on with a coding") }
            // What it has read on the pool may be there at once.
            while player.isReading, rest > 0 {
                world.queues.settle()
                if player.isReading { break }
                rest -= player.take(rest)
            }
        }
    }

    private func set(_ disk: WorldPlan.Disk) {
        world.files.setRule(nil)
        world.queues.setDiskDelay(read: 0, write: 0)
        switch disk {
        case .sound: break
        case .slow:
            world.queues.setDiskDelay(
                read: 300 * millisecond, write: 300 * millisecond, upkeep: 300 * millisecond)
        case .hung: world.queues.setDiskDelay(read: 100 * second, write: 100 * second, upkeep: 100 * second)
        case .hungWrites: world.queues.setDiskDelay(read: 0, write: 100 * second)
        case .full: world.files.setRule { operation, _, _ in operation == .write ? .error(FileError.noSpace) : nil }
        case .failingFiles:
            world.files.setRule { _, path, _ in
                path.utf8.reduce(0) { $0 + Int($1) } % 4 == 0 ? .error(FileError.inputOutput) : nil
            }
        case .failing: world.files.setRule { _, _, number in number % 3 == 0 ? .error(FileError.inputOutput) : nil }
        }
    }

    private mutating func operate(_ operation: WorldPlan.Operation, _ object: Int) {
        let cache = world.cache
        let fields = fields(of: tasks.count % WorldPlan.users, object)
        let resource = cache.resource(for: OriginURL("http://origin.test" + plan.objects[object].path)!, fields: fields)
        let isLong = plan.objects[object].length > WorldPlan.endless
        if operation == .suspend { isSuspended = true }
        if operation == .resume { isSuspended = false }
        let (leases, found, queues, copy) = (leases, found, world.queues, "/copies/\(object).mp3")
        let (isOneVersion, contentType) = (isOneVersion(of: object), plan.objects[object].contentType)
        let ending = Ending()
        tasks.append((name: "\(operation) of \(plan.objects[object].path)", ending: ending))
        Task(executorPreference: world.queues) {
            defer { ending.come() }
            do {
                switch operation {
                case .pin: try await resource.pin()
                case .unpin: try await resource.unpin()
                case .prefetch: try await RangeFetch(resource, isLong ? ByteRange(0, 3000) : .from(0)).run()
                case .prefetchHead: try await RangeFetch(resource, ByteRange(0, 700)).run()
                case .remove: try await resource.remove()
                case .verify: _ = try await resource.verify()
                case .compare: _ = try await resource.compareWithOrigin()
                case .invalidate:
                    try await cache.invalidate(
                        after: "POST", at: resource.request.url, OriginResponseHead(status: 200, fields: [:]))
                case .collectGarbage: await cache.collectGarbage()
                case .suspend: await cache.suspend()
                case .resume: await cache.resume()
                case .repair: try await resource.repair()
                case .repairAll: _ = try await cache.repair()
                case .removeAll: try await cache.removeAll()
                case .entries: _ = await cache.entries()
                case .statistics:
                    _ = try await resource.statistics()
                    _ = await cache.storeStatistics()
                case .info: _ = try await resource.info()
                case .networkReturned: cache.networkPathReturned()
                case .complete: if !isLong { try await resource.prefetch(.whole).value }
                case .prefetchBeginning: if !isLong { try await resource.prefetch(.head).value }
                case .cancelPrefetch:
                    let fetch = resource.prefetch(isLong ? .head : .whole)
                    queues.after(150 * millisecond) { fetch.cancel() }
                    try await fetch.value
                case .completeLease: try await leases.value.last?.lease.waitUntilComplete()
                case .export:
                    try await resource.export(to: URL(fileURLWithPath: copy))
                    if !isOneVersion(copy, nil) {
                        found.add(WorldViolation(oracle: "bytes", text: "an export of \(resource.request.url)"))
                    }
                case .exportAndImport:
                    let file = try await resource.export(to: URL(fileURLWithPath: copy))
                    // Who imports what is no media says so: by its name it would be.
                    try await resource.importFile(file, as: ImportDescription(contentType: contentType))
                case .fileURL, .fileURLOfBeginning:
                    guard !isLong else { break }
                    let lease =
                        operation == .fileURL
                        ? try await resource.fileURL() : try await resource.fileURL(afterBytes: 500)
                    leases.change { leases in
                        leases.append((lease, object, operation == .fileURL))
                        if leases.count > 2 { leases.removeFirst() }
                    }
                }
            } catch {}
        }
    }

    // MARK: Oracles

    /// What an oracle says, with how the open entries stand.
    private func violation(_ oracle: String, _ text: String) -> WorldViolation {
        let entries = world.cache.openEntries.map(\.explanation).joined(separator: "\n")
        return WorldViolation(oracle: oracle, text: text + "\n" + entries)
    }

    /// Whether a player has still to come to an end; what has none in sight is not waited for.
    private func isReading(_ player: Player) -> Bool {
        !player.isAtEnd && player.failure == nil && player.position < 1 << 20
    }

    private func expectTasksEnded(or words: String) throws {
        for task in tasks where !task.ending.hasCome { throw violation("liveness", "\(task.name) \(words)") }
    }

    private func check() throws {
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

    private var slots: Int {
        ["origin.test", MirrorClient.host].reduce(0) { $0 + world.cache.environment.hosts.active("http://" + $1) }
    }

    private var requests: Int { world.cache.openEntries.reduce(0) { $0 + $1.look { $0.requestCount } } }

    /// Once faults stop every reader and operation ends in bounded time, and nothing is left of them.
    private mutating func settle() throws {
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
        try checkFreshness()
        world.queues.advance(200 * second)
        try check()
        try checkNothingLeft()
        try replay()
        try checkClosed()
        app.asked.value.forEach { met[$0.key, default: 0] += $0.value }
    }

    /// What is at a path is served well from now on.
    private func mend(_ path: String) {
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

    private func checkNothingLeft() throws {
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
    private mutating func checkFreshness() throws {
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
    private mutating func checkCost(_ object: Int) throws {
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
    private func mayEnd(_ player: Player) -> Bool { plan.isStrict && player.failure != nil }

    /// What is stored is right after a restart; a reader that began on old bytes may be told so once.
    private mutating func replay() throws {
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
    private mutating func refusedPlayer(of object: Int) -> Player? {
        let path = plan.objects[object].path
        guard let user = world.origin.resource(at: path)?.behaviour.refusals.keys.first else { return nil }
        meet("refused user")
        let player = world.player(path, fields: ["Authorization": user])
        player.knownGenerations = versions[object * WorldPlan.users]
        player.take()
        return player
    }

    /// After closing nothing reaches the origin.
    private func checkClosed() throws {
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
