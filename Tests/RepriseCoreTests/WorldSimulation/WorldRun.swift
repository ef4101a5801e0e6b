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
final class Ending: Sendable {
    private let state = Lock(false)

    var hasCome: Bool { state.withLock { $0 } }

    func come() { state.withLock { $0 = true } }
}

/// Carries a plan out and asks the oracles after every step and at the end.
struct WorldRun {
    /// Length of the shortest request that is made where the origin allows it, and the most that is compared of what is held; bytes.
    static let (firstRequest, overlap): (Int64, Int64) = (512, 32)

    let plan: WorldPlan
    let world: World
    var players: [Player?] = Array(repeating: nil, count: WorldPlan.players)
    var held = Set<Int>()
    var owners: [Int: (object: Int, user: Int)] = [:]
    /// Of players that may not have every version: how many were too old when they asked, and whether that ends where the origin gets
    /// into trouble.
    var outdated: [Int: (count: Int, isUntilTrouble: Bool)] = [:]
    var freshness: WorldFreshness
    /// Versions an object has had, for each user; no two objects or users share one.
    var versions: [[Int]]
    var tasks: [(name: String, ending: Ending)] = []
    var isSuspended = false
    let isFirstDown = Shared(false)
    let app: WorldApp
    /// Files that were given away, until the operation after next on their object.
    let leases = Shared<[(lease: FileLease, object: Int, isWhole: Bool)]>([])
    /// What operations found wrong that nobody waits for.
    let found = Recorder<WorldViolation>()
    /// How often each generated thing was met.
    var met: [String: Int] = [:]
    /// What the cache told and what was read at the end.
    let told = Recorder<Told>()
    var subscription: EventSubscription?

    init(_ plan: WorldPlan) throws {
        self.plan = plan
        let (isShared, isFirstDown) = (plan.isShared, isFirstDown)
        let (app, found) = (WorldApp(plan), found)
        self.app = app
        let perUser = Set(plan.objects.filter(\.isPerUser).map(\.path))
        world = try World(
            seed: plan.seed, isOrdered: false, blockSize: plan.blockSize, pieceSize: plan.chunkSize
        ) {
            $0.tuning.firstRequest = WorldRun.firstRequest
            $0.tuning.readAhead = 768
            $0.tuning.windowLimit = 2048
            $0.tuning.joinDistance = 512
            $0.tuning.leastReach = 64
            $0.tuning.inheritDistance = 128
            $0.tuning.windDown = 128
            $0.tuning.overlap = WorldRun.overlap
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
        freshness = WorldFreshness(plan)
        for object in plan.objects.indices { publish(object, plan.objects[object].length) }
    }

    mutating func listen() {
        let (queues, told) = (world.queues, told)
        subscription = world.cache.onEvent { told.add(.event($0, at: queues.time / millisecond)) }
    }

    func path(_ object: Int, _ user: Int) -> String {
        let path = plan.objects[object].path
        return plan.objects[object].isPerUser && user > 0 ? "\(path)-\(user)" : path
    }

    /// Puts new bytes at an object's paths.
    mutating func publish(_ object: Int, _ length: Int64) {
        freshness.publish(object, at: world.queues.time)
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

    func mirrorPath(_ object: Int) -> String { "/mirror" + plan.objects[object].path }

    mutating func meet(_ name: String) { met[name, default: 0] += 1 }

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
    mutating func endure() throws {
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

    mutating func behaveAtMirror(_ object: Int, _ behaviour: OriginBehaviour) {
        meet("mirror's behaviour")
        world.origin.change(mirrorPath(object)) {
            $0.behaviour = behaviour
            $0.behaviour.tagMark = "-mirror"
        }
    }

    mutating func act(_ action: WorldPlan.Action) throws {
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
            freshness.behave(object, behaviour, at: world.queues.time)
            forgetOutdated()
            // Not drawn, so that a seed is the same plan as before.
            guard !plan.hasMirror || !behaviour.earlyHints else { return behaveAtMirror(object, behaviour) }
            for user in 0..<WorldPlan.users { world.origin.change(path(object, user)) { $0.behaviour = behaviour } }
        case .down(let isDown):
            meet("down")
            freshness.setDown(isDown, at: world.queues.time)
            forgetOutdated()
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
    mutating func kill() throws {
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

    mutating func dropPlayers() {
        for index in players.indices {
            players[index]?.leave()
            players[index] = nil
        }
    }

    func close(_ cache: MediaCache, within nanoseconds: Int64, _ whose: String = "") throws {
        let ending = Ending()
        Task(executorPreference: world.queues) {
            await cache.close()
            ending.come()
        }
        world.queues.advance(nanoseconds)
        guard ending.hasCome else { throw WorldViolation(oracle: "closed", text: "\(whose)close() never returns") }
    }

    /// A cache that was closed has ended all that it did, and asks the origin for nothing; then it is opened again.
    mutating func close() throws {
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
    mutating func runElsewhere(_ object: Int) throws {
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
    func fields(of user: Int, _ object: Int) -> HTTPFields {
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
    func isOneVersion(of object: Int) -> @Sendable (_ path: String, _ count: Int?) -> Bool {
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

    mutating func open(
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
            outdated[index] = (versions(of: object, user).count - 1, false)
        } else if control == nil, !believesWeakTags(object),
            let count = freshness.outdated(object, at: world.queues.time)
        {
            if count > 0 { meet("plain read, by versions") }
            outdated[index] = (count, true)
        }
        players[index] = player
    }

    /// Who reads an object that may be given as it is stored, as its origin is in trouble, may get any version.
    mutating func forgetOutdated() {
        let time = world.queues.time
        outdated = outdated.filter { index, outdated in
            !outdated.isUntilTrouble || !freshness.isTroubled(owners[index]!.object, at: time)
        }
    }

    /// Whether an origin has one weak tag for all versions at some time: what it calls the same is believed to be.
    func believesWeakTags(_ object: Int) -> Bool {
        plan.objects[object].behaviour.tag == .weakShared
            || plan.steps.contains { step in
                guard case .behave(object, let behaviour) = step.action else { return false }
                return behaviour.tag == .weakShared
            }
    }

    /// The versions of an object that a user may see.
    func versions(of object: Int, _ user: Int) -> [Int] {
        versions[object * WorldPlan.users + (plan.objects[object].isPerUser ? user : 0)]
    }

    /// A client that seeks asks by HEAD before, through a shared cache. Not drawn, so that a seed is the same plan as before.
    mutating func sendHead(_ index: Int) {
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
    mutating func takeAll(_ bytes: Int64) throws {
        for (index, player) in players.enumerated() {
            guard let player, !held.contains(index), player.wasWoken, let owner = owners[index] else { continue }
            player.knownGenerations = Array(
                versions(of: owner.object, owner.user).dropFirst(outdated[index]?.count ?? 0))
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

    mutating func set(_ disk: WorldPlan.Disk) {
        world.files.setRule(nil)
        world.queues.setDiskDelay(read: 0, write: 0)
        switch disk {
        case .sound: break
        case .slow:
            let isUneven = plan.seed.isMultiple(of: 2)
            if isUneven { meet("uneven disk") }
            world.queues.setDiskDelay(
                read: 300 * millisecond, write: 300 * millisecond, upkeep: 300 * millisecond, isUneven: isUneven)
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
}
