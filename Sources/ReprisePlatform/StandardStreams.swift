#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Writes a line to standard error.
package func printError(_ line: String) {
    printErrorPart(line + "\n")
}

/// Writes a piece of a line to standard error.
package func printErrorPart(_ text: String) {
    let bytes = Array(text.utf8)
    unsafe bytes.withUnsafeBytes { buffer in unsafe _ = write(2, buffer.baseAddress, buffer.count) }
}

/// Makes what was printed visible to a program that waits for it.
package func flushOutput() { _ = fflush(nil) }

/// A file that lines are added to, each in one call, so that they stay whole however the process ends.
package final class AppendingFile: Sendable {
    private let descriptor: Int32

    /// Opens or creates the file; `nil` where it cannot be.
    package init?(path: String) {
        let opened = unsafe open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard opened >= 0 else { return nil }
        descriptor = opened
    }

    deinit { _ = close(descriptor) }

    /// Adds `text`.
    package func append(_ text: String) {
        let bytes = Array(text.utf8)
        unsafe bytes.withUnsafeBytes { buffer in unsafe _ = write(descriptor, buffer.baseAddress, buffer.count) }
    }
}

/// Where a command's bytes go: a file that gets its name when it is whole, or standard output.
package struct Sink: ~Copyable {
    private let path: String?
    private let temporary: String
    private let descriptor: Int32

    /// Opens the file beside its place, or standard output for `nil`.
    package init(path: String?) throws(FileError) {
        self.path = path
        temporary = (path ?? "") + ".part"
        guard path != nil else {
            descriptor = 1
            return
        }
        descriptor = unsafe open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        if descriptor < 0 { throw FileError(code: errno, operation: "open", path: temporary) }
    }

    /// Writes all of `bytes`.
    package func write(_ bytes: ArraySlice<UInt8>) throws(FileError) {
        var rest = bytes
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { buffer in
                #if canImport(Darwin)
                    unsafe Darwin.write(descriptor, buffer.baseAddress, buffer.count)
                #elseif canImport(Musl)
                    unsafe Musl.write(descriptor, buffer.baseAddress, buffer.count)
                #else
                    unsafe Glibc.write(descriptor, buffer.baseAddress, buffer.count)
                #endif
            }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw FileError(code: errno, operation: "write", path: path ?? "standard output") }
            rest = rest.dropFirst(count)
        }
    }

    /// Gives the file its name.
    package func finish() throws(FileError) {
        guard let path else { return }
        if close(descriptor) != 0 { throw FileError(code: errno, operation: "close", path: temporary) }
        try DiskVolume().rename(temporary, to: path)
    }
}

extension DiskVolume {
    /// Removes a directory and what is in it, as far as that goes; for what was only there for a while.
    package func removeTree(_ path: String) {
        do throws(FileError) {
            for name in try list(path) { removeTree(path + "/" + name) }
            try removeDirectory(path)
        } catch {
            do throws(FileError) { try removeFile(path) } catch { _ = error }
        }
    }
}

extension SystemCalls {
    /// Where files may be put for a while.
    package static var temporaryDirectory: String { environment("TMPDIR") ?? "/tmp" }

    /// Whether a descriptor is a terminal.
    package static func isTerminal(_ descriptor: Int32) -> Bool { isatty(descriptor) == 1 }

    /// Columns of the terminal behind a descriptor; 80 where it does not tell.
    package static func terminalWidth(_ descriptor: Int32) -> Int {
        var size = winsize()
        let answer = unsafe ioctl(descriptor, UInt(TIOCGWINSZ), &size)
        return answer == 0 && size.ws_col > 0 ? Int(size.ws_col) : 80
    }

    /// The directory relative paths start from.
    package static var currentDirectory: String {
        guard let path = unsafe getcwd(nil, 0) else { return "." }
        defer { unsafe free(path) }
        return unsafe String(cString: path)
    }
}
