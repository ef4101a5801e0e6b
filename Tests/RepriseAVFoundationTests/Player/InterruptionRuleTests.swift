import Testing

@testable import RepriseAVFoundation

/// What is done when the system takes the sound away.
@Suite struct InterruptionRuleTests {
    @Test func `a call pauses, and its end resumes when the system says so`() {
        var rule = InterruptionRule()
        #expect(rule.decide(.began, isWanted: true, now: 0) == .pause)
        #expect(rule.decide(.ended(shouldResume: true), isWanted: false, now: 9) == .resume)
        #expect(rule.decide(.began, isWanted: true, now: 10) == .pause)
        #expect(rule.decide(.ended(shouldResume: false), isWanted: false, now: 19) == .nothing)
        #expect(rule.decide(.ended(shouldResume: true), isWanted: false, now: 20) == .nothing)
    }

    @Test func `what was paused before stays paused after`() {
        var rule = InterruptionRule()
        #expect(rule.decide(.began, isWanted: false, now: 0) == .nothing)
        #expect(rule.decide(.ended(shouldResume: true), isWanted: false, now: 9) == .nothing)
    }

    @Test func `a pause by the system just before the interruption belongs to it, an older one does not`() {
        var rule = InterruptionRule()
        rule.pausedByOthers(at: 100)
        #expect(rule.decide(.began, isWanted: false, now: 100.1) == .pause)
        #expect(rule.decide(.ended(shouldResume: true), isWanted: false, now: 109) == .resume)
        rule.pausedByOthers(at: 200)
        #expect(rule.decide(.began, isWanted: false, now: 210) == .nothing)
        #expect(rule.decide(.ended(shouldResume: true), isWanted: false, now: 219) == .nothing)
    }

    @Test func `a second beginning does not forget the first`() {
        var rule = InterruptionRule()
        #expect(rule.decide(.began, isWanted: true, now: 0) == .pause)
        #expect(rule.decide(.began, isWanted: false, now: 1) == .nothing)
        #expect(rule.decide(.ended(shouldResume: true), isWanted: false, now: 9) == .resume)
    }

    @Test func `what the person decides during the interruption holds`() {
        var rule = InterruptionRule()
        #expect(rule.decide(.began, isWanted: true, now: 0) == .pause)
        rule.decidedByApp()
        #expect(rule.decide(.ended(shouldResume: true), isWanted: false, now: 9) == .nothing)
    }

    @Test func `headphones that go pause, and nothing resumes by itself then`() {
        var rule = InterruptionRule()
        #expect(rule.decide(.outputLost, isWanted: true, now: 0) == .pause)
        #expect(rule.decide(.outputLost, isWanted: false, now: 0) == .nothing)
        #expect(rule.decide(.began, isWanted: true, now: 1) == .pause)
        #expect(rule.decide(.outputLost, isWanted: false, now: 2) == .nothing)
        #expect(rule.decide(.ended(shouldResume: true), isWanted: false, now: 9) == .nothing)
    }

    @Test func `a reset rebuilds, and resumes what played when the services were lost`() {
        var rule = InterruptionRule()
        #expect(rule.decide(.servicesReset, isWanted: true, now: 0) == .rebuild(resume: true))
        #expect(rule.decide(.servicesReset, isWanted: false, now: 0) == .rebuild(resume: false))
        #expect(rule.decide(.servicesLost, isWanted: true, now: 1) == .nothing)
        #expect(rule.decide(.servicesReset, isWanted: false, now: 60) == .rebuild(resume: true))
        rule.pausedByOthers(at: 100)
        #expect(rule.decide(.servicesReset, isWanted: false, now: 101) == .rebuild(resume: true))
    }

    @Test func `an interruption whose end is never told is over once it plays`() {
        var byApp = InterruptionRule()
        #expect(byApp.decide(.began, isWanted: true, now: 0) == .pause)
        byApp.decidedByApp()
        #expect(byApp.decide(.servicesReset, isWanted: true, now: 60) == .rebuild(resume: true))
        var byOthers = InterruptionRule()
        #expect(byOthers.decide(.began, isWanted: true, now: 0) == .pause)
        byOthers.startedByOthers()
        #expect(byOthers.decide(.servicesReset, isWanted: true, now: 60) == .rebuild(resume: true))
        #expect(byOthers.decide(.ended(shouldResume: true), isWanted: false, now: 61) == .nothing)
    }

    @Test func `a reset during a call rebuilds silently, and the call's end resumes`() {
        var rule = InterruptionRule()
        #expect(rule.decide(.began, isWanted: true, now: 0) == .pause)
        #expect(rule.decide(.servicesReset, isWanted: false, now: 1) == .rebuild(resume: false))
        #expect(rule.decide(.ended(shouldResume: true), isWanted: false, now: 9) == .resume)
    }
}
