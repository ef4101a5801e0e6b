import SwiftUI

/// A list of addresses and a caching player. Not yet run on a device.
@main
struct PlayerApp: App {
    @State private var shelf = Shelf()

    var body: some Scene {
        WindowGroup { ContentView(shelf: shelf) }
    }
}
