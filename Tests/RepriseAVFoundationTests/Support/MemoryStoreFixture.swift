import ReprisePlatform
import RepriseStorage
import RepriseTesting

/// A store that never touches a disk.
enum MemoryStoreFixture {
    static func make() throws -> Store { try Store(root: "/store", volume: SimulatedDisk()) }
}
