"""The language settings of Package.swift as the compiler's flags, so that they cannot drift apart."""
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parent.parent


def flags(package="reprise"):
    """For sources of a package of that name, which `package` access goes by."""
    text = re.search(r"let settings: \[SwiftSetting\] = \[(.*?)\n\]", (ROOT / "Package.swift").read_text(), re.S)[1]
    flags = ["-swift-version", re.search(r"swiftLanguageMode\(\.v(\d+)\)", text)[1], "-package-name", package]
    for feature in re.findall(r'enableUpcomingFeature\("(\w+)"\)', text):
        flags += ["-enable-upcoming-feature", feature]
    if "strictMemorySafety" in text:
        flags.append("-strict-memory-safety")
    return flags
