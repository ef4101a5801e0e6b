#if canImport(AVFoundation) && !os(watchOS)
    import AVFoundation
    import Dispatch
    import Foundation

    #if canImport(AVFAudio)
        import AVFAudio
    #endif

    /// The app's audio session, where there is one (not on macOS): what it tells, and the little that is done to it when
    /// the app has asked for it.
    enum AudioSession {
        /// What happens to the session, as events of the rule, on the main actor, for as long as the result is held.
        static func observe(
            _ onEvent: @escaping @MainActor @Sendable (InterruptionRule.Event) -> Void
        ) -> [NotificationObservation] {
            #if os(iOS) || os(tvOS) || os(visionOS)
                let tell: @Sendable (InterruptionRule.Event?) -> Void = { event in
                    if let event { Task { @MainActor in onEvent(event) } }
                }
                return [
                    NotificationObservation(AVAudioSession.interruptionNotification, of: nil) { notification in
                        tell(interruption(notification.userInfo))
                    },
                    NotificationObservation(AVAudioSession.routeChangeNotification, of: nil) { notification in
                        tell(routeChange(notification.userInfo))
                    },
                    NotificationObservation(AVAudioSession.mediaServicesWereLostNotification, of: nil) { _ in
                        tell(.servicesLost)
                    },
                    NotificationObservation(AVAudioSession.mediaServicesWereResetNotification, of: nil) { _ in
                        tell(.servicesReset)
                    },
                ]
            #else
                return []
            #endif
        }

        #if os(iOS) || os(tvOS) || os(visionOS)
            private static func interruption(_ info: [AnyHashable: Any]?) -> InterruptionRule.Event? {
                guard let type = info?[AVAudioSessionInterruptionTypeKey] as? UInt else { return nil }
                switch AVAudioSession.InterruptionType(rawValue: type) {
                case .began: return .began
                case .ended:
                    let options = AVAudioSession.InterruptionOptions(
                        rawValue: info?[AVAudioSessionInterruptionOptionKey] as? UInt ?? 0)
                    return .ended(shouldResume: options.contains(.shouldResume))
                default: return nil
                }
            }

            private static func routeChange(_ info: [AnyHashable: Any]?) -> InterruptionRule.Event? {
                guard let reason = info?[AVAudioSessionRouteChangeReasonKey] as? UInt else { return nil }
                return AVAudioSession.RouteChangeReason(rawValue: reason) == .oldDeviceUnavailable ? .outputLost : nil
            }

            // Setting up a session talks to another process and may take long: never on the main thread, one at a time.
            private static let queue = DispatchQueue(label: "reprise.audio-session", qos: .userInitiated)
        #endif

        /// Makes the session one for playback, and active. Errors come to `onError`, on the main actor.
        static func activate(_ onError: @escaping @MainActor @Sendable (PlaybackError) -> Void) {
            #if os(iOS) || os(tvOS) || os(visionOS)
                queue.async {
                    do {
                        let session = AVAudioSession.sharedInstance()
                        try session.setCategory(.playback, mode: .default, options: [])
                        try session.setActive(true, options: [])
                    } catch {
                        tell(error, onError)
                    }
                }
            #endif
        }

        /// Gives the session back, and lets others know.
        static func deactivate(_ onError: @escaping @MainActor @Sendable (PlaybackError) -> Void) {
            #if os(iOS) || os(tvOS) || os(visionOS)
                queue.async {
                    do {
                        try AVAudioSession.sharedInstance().setActive(false, options: .notifyOthersOnDeactivation)
                    } catch {
                        tell(error, onError)
                    }
                }
            #endif
        }

        #if os(iOS) || os(tvOS) || os(visionOS)
            private static func tell(
                _ error: any Error, _ onError: @escaping @MainActor @Sendable (PlaybackError) -> Void
            ) {
                let cause = error as NSError
                let failure = PlaybackError(.audioSession, cause.localizedDescription, cause: cause)
                Task { @MainActor in onError(failure) }
            }
        #endif
    }
#endif
