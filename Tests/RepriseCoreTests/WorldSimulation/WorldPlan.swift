import RepriseCore
import RepriseRanges
import RepriseTesting

/// What happens in one run, drawn in advance from a seed: a failing run is made smaller by leaving steps out.
struct WorldPlan: Sendable {
    /// An object of the origin.
    struct Object: Sendable {
        var path: String
        var length: Int64
        /// Whether each user is answered with an object of its own.
        var isPerUser = false
        /// The field by which the origin knows its users.
        var userField = "Authorization"
        var contentType = "audio/mpeg"
        var behaviour: OriginBehaviour
    }

    /// What a disk does.
    enum Disk: Hashable, Sendable {
        case sound, slow, full
        /// No call is answered; no write.
        case hung, hungWrites
        /// One call of three fails, or all for some files.
        case failing, failingFiles
    }

    /// What the app says of what may be stored.
    enum Admitting: Hashable, Sendable {
        case everything
        /// What tells that it is short, or one of the types; what is asked looks at the cache first.
        case short, types
    }

    /// What an app gives for a URL that was refused.
    enum Refreshing: Hashable, Sendable {
        case never
        /// A fresh one, at once or after a while, or the same.
        case fresh, late, same
        case nothing, failing
        /// No answer.
        case hanging
    }

    /// What is done with a cache besides reading.
    enum Operation: Hashable, Sendable, CaseIterable {
        case pin, unpin, prefetch, prefetchHead, remove, verify, compare, invalidate, collectGarbage, suspend, resume
        case repair, export, exportAndImport, fileURL, fileURLOfBeginning, info, entries, statistics, networkReturned
        case removeAll, repairAll, complete, prefetchBeginning, cancelPrefetch, completeLease
    }

    enum Action: Sendable {
        case open(player: Int, object: Int, user: Int, ByteRange, control: String?, isKept: Bool, usesReadPool: Bool)
        case leave(player: Int)
        case seek(player: Int, to: Int64)
        /// The player takes nothing for a while, or goes on.
        case hold(player: Int, Bool)
        /// The origin has other bytes, of another length where one is given.
        case change(object: Int, length: Int64?)
        case behave(object: Int, OriginBehaviour)
        case down(Bool)
        case disk(Disk)
        case limit(Int64?)
        case operate(Operation, object: Int)
        /// The first of two hosts is down, or is there again.
        case mirror(isFirstDown: Bool)
        /// The clock on the wall jumps by so many seconds.
        case clock(Int64)
        /// The machine is busy with something else for so long.
        case stall(Int64)
        /// A process beside this one takes the store, where it is free, and plays an object.
        case otherProcess(object: Int)
        case close
        case restart
        case kill
        case powerCut
        case wait
    }

    struct Step: Sendable {
        var action: Action
        /// Nanoseconds that pass after it.
        var time: Int64
        /// Most bytes each player takes then.
        var bytes: Int64
    }

    let seed: UInt64
    var isShared: Bool
    var isSealed: Bool
    /// Whether only a strong validator shows that bytes belong together.
    var isStrict: Bool
    /// Whether a second host has the same objects, under validators of its own.
    var hasMirror: Bool
    var admitting = Admitting.everything
    var refreshing = Refreshing.never
    /// Whether `Retry-After` is a date.
    var tellsDates = false
    var blockSize: Int64
    var chunkSize: Int
    var objects: [Object]
    var steps: [Step]
    /// What is longer is never read to its end. Bytes.
    static let endless: Int64 = 1 << 40
    static let players = 8
    static let users = 3

    init(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        self.seed = seed
        isShared = Bool.random(using: &random)
        isSealed = Int.random(in: 0..<8, using: &random) == 0
        hasMirror = !isShared && Int.random(in: 0..<3, using: &random) == 0
        blockSize = [7, 16, 64, 256].randomElement(using: &random)!
        chunkSize = [1, 13, 64, 500].randomElement(using: &random)!
        let longest: Int64 = chunkSize == 1 ? 600 : 4000
        let isShared = isShared
        let chunkSize = chunkSize
        objects = (0..<3).map { number in
            var object = Object(
                path: "/\(number).mp3", length: Int64.random(in: 1...longest, using: &random),
                behaviour: OriginBehaviour())
            // Larger than what may be in memory of it.
            if chunkSize >= 64, Int.random(in: 0..<10, using: &random) == 0 {
                object.length = Int64.random(in: 30_000...60_000, using: &random)
            }
            if Int.random(in: 0..<12, using: &random) == 0 { object.length = 0 }
            if Int.random(in: 0..<10, using: &random) == 0 {
                // Far behind what is stored, about the longest that is believed, and about the longest there is.
                let edges: [Int64] = [1 << 50, ResponseJudge.longestResource, .max - 70_000, .max - 70_000]
                object.length = edges.randomElement(using: &random)!.adding(
                    Int64.random(in: -70_000...70_000, using: &random))
            }
            object.contentType = [
                "audio/mpeg", "audio/mpeg", "audio/mpeg", "application/vnd.apple.mpegurl", "text/plain",
            ].randomElement(using: &random)!
            object.isPerUser = isShared && Int.random(in: 0..<3, using: &random) == 0
            if Bool.random(using: &random) { object.userField = "Cookie" }
            object.behaviour = WorldPlan.behaviour(object, isShared: isShared, isSound: true, &random)
            return object
        }
        (isStrict, steps) = (false, [])
        let count = Int.random(in: 20...140, using: &random)
        for _ in 0..<count { steps.append(step(&random)) }
        isStrict = !isShared && Int.random(in: 0..<10, using: &random) == 0
        for index in steps.indices {
            guard case .behave(let object, var behaviour) = steps[index].action,
                Int.random(in: 0..<12, using: &random) == 0
            else { continue }
            behaviour.loginPage = true
            steps[index].action = .behave(object: object, behaviour)
        }
        askApp(seed: seed)
        answerUsersApart(seed: seed)
    }

    /// What is never stored may be another for each user also where what is stored is good for all. Drawn apart.
    private mutating func answerUsersApart(seed: UInt64) {
        var random = SeededGenerator(seed: seed ^ 0xA9A7)
        guard !isShared, !hasMirror, refreshing == .never else { return }
        for index in objects.indices where objects[index].contentType == "application/vnd.apple.mpegurl" {
            guard Bool.random(using: &random) else { continue }
            objects[index].isPerUser = true
            objects[index].behaviour.redirect = nil
            for step in steps.indices {
                guard case .behave(index, var behaviour) = steps[step].action else { continue }
                behaviour.redirect = nil
                steps[step].action = .behave(object: index, behaviour)
            }
        }
    }

    /// What the app is asked, drawn apart: the rest of a seed's plan stays what it was.
    private mutating func askApp(seed: UInt64) {
        var random = SeededGenerator(seed: seed ^ 0x5EED)
        tellsDates = Bool.random(using: &random)
        if Int.random(in: 0..<5, using: &random) == 0 {
            admitting = Bool.random(using: &random) ? .short : .types
        }
        guard Int.random(in: 0..<4, using: &random) == 0 else { return }
        refreshing = [.fresh, .late, .same, .nothing, .failing, .hanging].randomElement(using: &random)!
        for index in steps.indices {
            guard case .behave(let object, var behaviour) = steps[index].action,
                behaviour.status != nil || Int.random(in: 0..<3, using: &random) == 0
            else { continue }
            behaviour.status = Bool.random(using: &random) ? 403 : 410
            steps[index].action = .behave(object: object, behaviour)
        }
    }

    private func step(_ random: inout SeededGenerator) -> Step {
        let time = [0, 1, 5, 20, 100, 1000, 11_000, 40_000].randomElement(using: &random)! * millisecond
        return Step(action: action(&random), time: time, bytes: Int64.random(in: 1...3000, using: &random))
    }

    private func action(_ random: inout SeededGenerator) -> Action {
        let player = Int.random(in: 0..<WorldPlan.players, using: &random)
        let object = Int.random(in: 0..<objects.count, using: &random)
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<33:
            let start = position(object, &random)
            let end = Bool.random(using: &random) ? Int64.max : max(start, position(object, &random))
            let controls = [nil, nil, nil, nil, "no-cache", "max-stale", "only-if-cached", "no-store", "max-age=1"]
            return .open(
                player: player, object: object, user: Int.random(in: 0..<WorldPlan.users, using: &random),
                ByteRange(start, end), control: isShared ? controls.randomElement(using: &random)! : nil,
                isKept: Int.random(in: 0..<10, using: &random) > 0, usesReadPool: Bool.random(using: &random))
        case 33..<41: return .leave(player: player)
        case 41..<49: return .seek(player: player, to: position(object, &random))
        case 49..<55: return .hold(player: player, Bool.random(using: &random))
        case 55..<62:
            let isResized = Int.random(in: 0..<3, using: &random) == 0 && objects[object].length < WorldPlan.endless
            return .change(object: object, length: isResized ? Int64.random(in: 0...4000, using: &random) : nil)
        case 62..<72:
            return .behave(
                object: object, WorldPlan.behaviour(objects[object], isShared: isShared, isSound: false, &random))
        case 72..<75: return .down(Bool.random(using: &random))
        case 75..<79:
            return .disk(
                [.sound, .sound, .slow, .hung, .hungWrites, .full, .failing, .failingFiles].randomElement(
                    using: &random)!)
        case 79..<81:
            let limit = Int64.random(in: 8...60, using: &random) << 10
            return .limit(Bool.random(using: &random) ? limit : nil)
        case 81..<92: return .operate(Operation.allCases.randomElement(using: &random)!, object: object)
        case 92..<93: return .restart
        case 93..<94: return .kill
        case 94..<95: return .powerCut
        case 95..<96 where Bool.random(using: &random):
            return .stall([500, 1500, 3000, 25_000].randomElement(using: &random)! * millisecond)
        case 95..<96: return .clock([-86_400 * 400, -3600, -2, 2, 3600, 86_400 * 400].randomElement(using: &random)!)
        case 96..<98: return .otherProcess(object: object)
        case 98..<99: return .close
        default: return hasMirror ? .mirror(isFirstDown: Bool.random(using: &random)) : .wait
        }
    }

    private func position(_ object: Int, _ random: inout SeededGenerator) -> Int64 {
        let length = objects[object].length
        if length > WorldPlan.endless {
            let far = length.adding(-Int64.random(in: 0...5000, using: &random))
            return [0, Int64.random(in: 0...3000, using: &random), far].randomElement(using: &random)!
        }
        return Int64.random(in: 0...(length + 50), using: &random)
    }

    private static func behaviour(
        _ object: Object, isShared: Bool, isSound: Bool, _ random: inout SeededGenerator
    ) -> OriginBehaviour {
        var behaviour = OriginBehaviour()
        behaviour.bytesPerSecond = [0, 20_000, 200_000].randomElement(using: &random)!
        let isLarge = object.length > 10_000 && object.length < WorldPlan.endless
        if object.length > WorldPlan.endless { behaviour.bytesPerSecond = 500 }
        if isLarge { behaviour.bytesPerSecond = [0, 200_000].randomElement(using: &random)! }
        behaviour.firstByteDelay = [0, 5, 80].randomElement(using: &random)! * millisecond
        behaviour.tag = [.strong, .strong, .weak, .weakShared, .none, .perRequest].randomElement(using: &random)!
        let isTagShared = behaviour.tag == .weakShared
        // A shared cache combines nothing under differing strong tags (RFC 9110 §15.3.7.3), and believes equal weak ones.
        if isShared, behaviour.tag == .perRequest || isTagShared { behaviour.tag = .weak }
        behaviour.hasLastModified = Bool.random(using: &random)
        behaviour.framing = [.length, .length, .chunked, .close].randomElement(using: &random)!
        if object.length < WorldPlan.endless, Int.random(in: 0..<5, using: &random) == 0 { behaviour.ranges = .ignored }
        behaviour.tellsRanges = Int.random(in: 0..<4, using: &random) > 0
        behaviour.longestRange = [nil, nil, nil, 30, 100, 700].randomElement(using: &random)!
        if isLarge { behaviour.longestRange = nil }
        behaviour.widensRanges = [0, 0, 0, 50].randomElement(using: &random)!
        behaviour.heedsIfRange = Int.random(in: 0..<4, using: &random) > 0
        behaviour.contentType = object.contentType
        if isShared {
            behaviour.extraFields["Age"] = [nil, nil, nil, "0", "90", "2147483648", "-1"].randomElement(using: &random)!
            behaviour.extraFields["Expires"] =
                [nil, nil, nil, "0", "Thu, 01 Jan 1970 00:00:00 GMT", "Wed, 15 Nov 2023 00:00:00 GMT"]
                .randomElement(using: &random)!
            behaviour.extraFields["Cache-Control"] = [
                nil,
                "max-age=1", "max-age=100", "max-age=1, stale-while-revalidate=5", "s-maxage=1, stale-if-error=30",
                "no-cache", "no-store", "private", "public, max-age=3", "must-revalidate, max-age=1",
            ].randomElement(using: &random)!
            // An origin that answers users apart says so, or does not let others have it.
            behaviour.extraFields["Vary"] =
                object.isPerUser
                ? object.userField : [nil, nil, "Accept-Language", "*"].randomElement(using: &random)!
        }
        // Not drawn, so that a seed is the same plan as before.
        if isShared, !behaviour.heedsIfRange, behaviour.framing == .length {
            behaviour.heedsIfNoneMatch = false
            // That one it believes of a 304 alone.
            if isTagShared { behaviour.tag = .weakShared }
        }
        behaviour.explainsRefusals = behaviour.framing != .length
        behaviour.tellsTotalInRefusals = behaviour.hasLastModified
        behaviour.gzipsForTakers = isShared && !behaviour.tellsRanges
        if behaviour.gzipsForTakers, behaviour.extraFields["Vary"] == nil, behaviour.heedsIfRange {
            behaviour.extraFields["Vary"] = "Accept-Encoding"
        }
        if Int.random(in: 0..<8, using: &random) == 0 { behaviour.tag = .perRequestWeak }
        if Int.random(in: 0..<6, using: &random) == 0 {
            behaviour.refusals = ["2": Bool.random(using: &random) ? 401 : 403]
        }
        guard !isSound else { return behaviour }
        let offset = min(object.length, Int64.random(in: 0...4000, using: &random))
        behaviour.body = [.none, .none, .none, .short(by: 5), .long(by: 9), .reset(at: offset), .stall(at: offset)]
            .randomElement(using: &random)!
        // Where nothing tells the end, what is too much is a part of it.
        if case .long = behaviour.body, behaviour.framing != .length { behaviour.body = .none }
        // A host that accepts connections and says nothing for a while, or for longer than anybody waits.
        if Int.random(in: 0..<12, using: &random) == 0 {
            behaviour.firstByteDelay = [15, 200].randomElement(using: &random)! * second
            // So many seconds for a few bytes each are minutes without a byte for who is only a little ahead.
            behaviour.longestRange = nil
        }
        behaviour.status = [nil, nil, nil, nil, 500, 503, 401, 403, 404, 416, 429].randomElement(using: &random)!
        behaviour.retryAfter = [nil, 1, 30].randomElement(using: &random)!
        // What it answers instead is fresh for as long as the object is.
        for name in ["Cache-Control", "Expires", "Vary"] { behaviour.statusFields[name] = behaviour.extraFields[name] }
        behaviour.contentRange = [.none, .none, .none, .wrongStart, .absent, .unknownTotal].randomElement(
            using: &random)!
        // A range that is wider and says so wrongly cannot be told from one that is right.
        if behaviour.contentRange != .none { behaviour.widensRanges = 0 }
        behaviour.earlyHints = Bool.random(using: &random)
        // Only what is one object for all can have moved elsewhere.
        if !object.isPerUser, Int.random(in: 0..<10, using: &random) == 0 {
            behaviour.redirect = (Int.random(in: 0..<4, using: &random) == 0 ? "" : "/moved") + object.path
        }
        return behaviour
    }
}
