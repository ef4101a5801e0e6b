import Foundation
import RepriseCore
import RepriseHTTP
import ReprisePlatform
import RepriseRanges
import RepriseStorage
import RepriseTesting
import Testing

/// Where a cache lives on a device.
@Suite struct StoreLocationTests {
    @Test func `each location is a folder of its own`() throws {
        let folders = RecordingFolders()
        #expect(try StoreLocation.caches().path(in: folders) == "/app/Caches/Reprise")
        #expect(try StoreLocation.caches("Music").path(in: folders) == "/app/Caches/Music")
        #expect(try StoreLocation.offline("Films").path(in: folders) == "/app/Support/Films")
        #expect(try StoreLocation.appGroup("group.a").path(in: folders) == "/groups/group.a/Reprise")
        #expect(try StoreLocation.directory("/var//media/").path(in: folders) == "/var/media")
    }

    @Test(arguments: ["", ".", "..", "a/b", "/a", "../Documents", "a\0b", String(repeating: "x", count: 256)])
    func `a name that leads elsewhere is refused with what to do`(name: String) {
        let folders = RecordingFolders()
        for location in [StoreLocation.caches(name), .offline(name), .appGroup("group.a", name), .appGroup(name)] {
            let error = #expect(throws: CacheError.self) { try location.path(in: folders) }
            #expect(error?.code == .unsupported)
            #expect(error?.message.contains("one path component") == true)
        }
    }

    @Test func `names with spaces, dots and other scripts are names`() throws {
        let folders = RecordingFolders()
        for name in ["My Music", ".hidden", "...", "音楽", String(repeating: "x", count: 255)] {
            #expect(try StoreLocation.caches(name).path(in: folders) == "/app/Caches/" + name)
        }
    }

    @Test(arguments: ["", "media", "./media", "~/media", "/", "//", "/a\0b"])
    func `a directory has to be an absolute path`(path: String) {
        let error = #expect(throws: CacheError.self) { try StoreLocation.directory(path).path(in: RecordingFolders()) }
        #expect(error?.code == .unsupported)
    }

    @Test func `a place the system does not have is told of`() {
        let bare = RecordingFolders(caches: nil, applicationSupport: nil, hasGroups: false)
        for location in [StoreLocation.caches(), .offline(), .appGroup("group.a")] {
            let error = #expect(throws: CacheError.self) { try location.path(in: bare) }
            #expect(error?.code == .unsupported)
        }
    }

    @Test func `what is kept is marked against backups and for a locked screen at every open`() throws {
        let files = SimulatedDisk()
        for location in [StoreLocation.offline(), .appGroup("group.a")] {
            let folders = RecordingFolders()
            let path = try location.path(in: folders)
            for opening in 1...3 {
                let opener = StoreOpener(location: location, volume: files, folders: folders)
                _ = try opener.open()
                #expect(folders.excluded == Array(repeating: path, count: opening))
                #expect(folders.unlocked == Array(repeating: path, count: opening))
            }
        }
    }

    @Test func `caches and directories are not marked against backups`() throws {
        let files = SimulatedDisk()
        let folders = RecordingFolders()
        for location in [StoreLocation.caches(), .directory("/media")] {
            _ = try StoreOpener(location: location, volume: files, folders: folders).open()
        }
        #expect(folders.excluded.isEmpty)
        #expect(folders.unlocked == ["/app/Caches/Reprise", "/media"])
    }

    @Test func `the mark for a locked screen is set before anything is made in the folder`() throws {
        let files = SimulatedDisk()
        let folders = RecordingFolders { path in
            #expect(files.paths.isEmpty, "files made before keep the class they were made with")
            #expect(try! files.list(path).isEmpty)
        }
        _ = try StoreOpener(location: .caches(), volume: files, folders: folders).open()
        #expect(!files.paths.isEmpty)
    }

    @Test func `a cache opens at a location, keeps what it plays, and is refused to a second one, inv25`() async throws
    {
        let directory = TemporaryDirectory()
        let origin = ScriptedOrigin()
        let content = PositionCodedContent(length: 100_001)
        origin.put(.init(content), at: "/a")
        let url = URL(string: "http://origin.test/a")!
        let location = StoreLocation.directory(directory.path + "/deep/store")
        for opening in 1...2 {
            let client = InMemoryOriginClient(origin: origin, queues: SystemWorkQueues())
            let cache = try MediaCache(at: location, client: client)
            #expect(cache.status == .ready)
            let error = #expect(throws: CacheError.self) { try MediaCache(at: location, client: client) }
            #expect(error?.code == .store)
            var position: Int64 = 0
            for try await chunk in try cache.resource(for: url).bytes() { position += Int64(chunk.bytes.count) }
            #expect(position == content.length)
            #expect(opening == 1 || cache.statistics.fromOrigin == 0)
            await cache.close()
            #expect(cache.status == .closed)
        }
    }

    @Test func `a cache that may not open passes bytes through and says why, inv22 inv30`() throws {
        let files = FaultyVolume(SimulatedDisk()) { _, _, _ in .error(FileError.notPermitted) }
        let origin = ScriptedOrigin()
        let content = PositionCodedContent(length: 300_000)
        origin.put(.init(content), at: "/a")
        let queues = ManualQueues()
        let opener = StoreOpener(location: .caches(), volume: files, folders: RecordingFolders())
        let client = InMemoryOriginClient(origin: origin, queues: queues)
        #expect(throws: CacheError.self) { try MediaCache(opener: opener, client: client, queues: queues) }
        let cache = MediaCache(trying: opener, client: client, queues: queues)
        guard case .passingThrough(let reason) = cache.status else {
            Issue.record("it says \(cache.status)")
            return
        }
        #expect(reason.contains("/app/Caches/Reprise"))
        let handle = cache.resource(for: OriginURL("http://origin.test/a")!).makeHandle(in: .from(0))
        var position: Int64 = 0
        reading: while true {
            switch handle.step(limit: 65_536, wake: {}) {
            case .memory(let bytes, let offset):
                #expect(content.firstMismatch(bytes, at: offset) == nil)
                position += Int64(bytes.count)
            case .pending: queues.advance(10 * millisecond)
            case .end: break reading
            case .lease, .failed: Issue.record("bytes come from memory"); break reading
            }
        }
        #expect(position == content.length)
    }
}

/// Folders of a made-up device, and what was marked there.
final class RecordingFolders: DeviceFolders {
    let caches: String?
    let applicationSupport: String?
    private let hasGroups: Bool
    private let onUnlock: @Sendable (String) -> Void
    private let marks = Lock((excluded: [String](), unlocked: [String]()))

    init(
        caches: String? = "/app/Caches", applicationSupport: String? = "/app/Support/", hasGroups: Bool = true,
        onUnlock: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        self.caches = caches
        self.applicationSupport = applicationSupport
        self.hasGroups = hasGroups
        self.onUnlock = onUnlock
    }

    var excluded: [String] { marks.withLock { $0.excluded } }
    var unlocked: [String] { marks.withLock { $0.unlocked } }

    func groupContainer(_ id: String) -> String? { hasGroups ? "/groups/" + id : nil }
    func excludeFromBackup(_ path: String) throws(FileError) { marks.withLock { $0.excluded.append(path) } }
    func allowAfterFirstUnlock(_ path: String) throws(FileError) {
        onUnlock(path)
        marks.withLock { $0.unlocked.append(path) }
    }
}

#if os(Linux)
    @Suite struct XDGFoldersTests {
        private func folders(_ variables: [String: String]) -> SystemFolders {
            SystemFolders { variables[$0] }
        }

        @Test func `the variables name the folders, and the home directory stands in for them`() {
            let named = folders(["HOME": "/home/a", "XDG_CACHE_HOME": "/x/cache", "XDG_DATA_HOME": "/x/data"])
            #expect(named.caches == "/x/cache")
            #expect(named.applicationSupport == "/x/data")
            let home = folders(["HOME": "/home/a/"])
            #expect(home.caches == "/home/a/.cache")
            #expect(home.applicationSupport == "/home/a/.local/share")
        }

        @Test func `a relative path in a variable is ignored, as the specification has it`() {
            let wrong = folders(["HOME": "/home/a", "XDG_CACHE_HOME": "cache", "XDG_DATA_HOME": ""])
            #expect(wrong.caches == "/home/a/.cache")
            #expect(wrong.applicationSupport == "/home/a/.local/share")
        }

        @Test func `without a home there is no folder, and app groups there never are`() {
            #expect(folders([:]).caches == nil)
            #expect(folders(["HOME": "home"]).applicationSupport == nil)
            #expect(folders(["HOME": "/home/a"]).groupContainer("group.a") == nil)
        }
    }
#endif
