/// When stored bytes may be used without asking the origin.
public enum FreshnessPolicy: Sendable, Hashable {
    /// What is stored is good for ever: media under one key does not change. For apps.
    case immutable
    /// RFC 9111 as a shared cache: what the origin's headers allow. For the edge role.
    case http
}
