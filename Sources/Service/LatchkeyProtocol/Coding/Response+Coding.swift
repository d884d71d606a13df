// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import KeychainModel
internal import SecretMemory
internal import SwiftProtobuf

extension NumberedResponse {
    /// Encodes the response as a frame.
    public func frame() throws(WireError) -> Frame {
        var collector = SecretCollector()
        var message = WireResponse()
        message.number = number
        message.content = response.wire(&collector)
        return Frame(message: try encoded(message), secrets: collector.secrets)
    }

    /// Decodes a response. Unknown fields and codes, and secrets that no field refers to, are
    /// rejected.
    public init(_ frame: Frame) throws(WireError) {
        let message = try decoded(WireResponse.self, frame.message)
        var table = SecretTable(frame.secrets)
        self.init(number: message.number, try Response(message.content, &table))
        try table.requireAllTaken()
    }
}

extension Response {
    fileprivate func wire(_ collector: inout SecretCollector) -> WireResponse.OneOf_Content {
        switch self {
        case .welcome(let welcome): .welcome(WireWelcome(welcome))
        case .failure(let error): .failure(WireFailure(error))
        case .done: .done(WireNothing())
        case .count(let count): .count(UInt64(max(0, count)))
        case .record(let record): .record(WireRecord(record, &collector))
        case .records(let records, let damaged, let moreFollows):
            .records(
                .with {
                    $0.records = records.map { WireRecord($0, &collector) }
                    $0.damaged = UInt64(damaged)
                    $0.moreFollows = moreFollows
                })
        case .status(let status): .status(WireKeychainStatus(status))
        case .findings(let findings): .findings(.with { $0.findings = findings.map { .init($0) } })
        case .caller(let report): .caller(WireCallerReport(report))
        case .lockStatus(let status): .lockStatus(WireLockStatus(status))
        case .lockState(let state): .lockState(state.wire)
        case .secret(let secret): .secret(collector.append(secret))
        case .backedUp(let report): .backedUp(WireBackupReport(report))
        case .restored(let report): .restored(WireRestoreReport(report))
        case .piece(let bytes): .piece(Data(bytes))
        case .ready: .ready(WireNothing())
        case .logLines(let lines, let moreFollows):
            .logLines(
                .with {
                    $0.lines = lines.lines
                    $0.last = lines.last
                    $0.moreFollows = moreFollows
                })
        case .logVerdict(let verdict): .logVerdict(WireLogVerdict(verdict))
        case .generatedKey(let key): .generatedKey(WireGeneratedKey(key, &collector))
        case .publicKey(let info): .publicKey(WirePublicKeyInfo(info))
        case .keyOutput(let output): .keyOutput(WireKeyOutput(output, &collector))
        case .progress(let done, let total):
            .progress(
                .with {
                    $0.done = UInt64(max(0, done))
                    $0.total = UInt64(max(0, total))
                })
        }
    }

    fileprivate init(_ content: WireResponse.OneOf_Content?, _ table: inout SecretTable) throws(WireError) {
        switch content {
        case .welcome(let wire): self = .welcome(try wire.decode())
        case .failure(let wire): self = .failure(try wire.decode())
        case .done(let nothing):
            try requireKnown(nothing)
            self = .done
        case .count(let count): self = .count(try number(count, "a number of items"))
        case .record(let wire): self = .record(try wire.decode(&table))
        case .records(let wire):
            try requireKnown(wire)
            var records: [ItemRecord] = []
            records.reserveCapacity(wire.records.count)
            for record in wire.records { records.append(try record.decode(&table)) }
            self = .records(
                records, damaged: try number(wire.damaged, "a number of rows"), moreFollows: wire.moreFollows)
        case .status(let wire): self = .status(try wire.decode())
        case .findings(let wire):
            try requireKnown(wire)
            var findings: [KeychainFinding] = []
            for finding in wire.findings { findings.append(try finding.decode()) }
            self = .findings(findings)
        case .caller(let wire): self = .caller(try wire.decode())
        case .lockStatus(let wire): self = .lockStatus(try wire.decode())
        case .lockState(let code): self = .lockState(try LockState(wire: code))
        case .secret(let index): self = .secret(try table.take(index))
        case .backedUp(let wire): self = .backedUp(try wire.decode())
        case .restored(let wire): self = .restored(try wire.decode())
        case .piece(let bytes): self = .piece(Array(bytes))
        case .ready(let nothing):
            try requireKnown(nothing)
            self = .ready
        case .logLines(let wire):
            try requireKnown(wire)
            self = .logLines(AuditLines(lines: wire.lines, last: wire.last), moreFollows: wire.moreFollows)
        case .logVerdict(let wire): self = .logVerdict(try wire.decode())
        case .generatedKey(let wire): self = .generatedKey(try wire.decode(&table))
        case .publicKey(let wire): self = .publicKey(try wire.decode())
        case .keyOutput(let wire): self = .keyOutput(try wire.decode(&table))
        case .progress(let wire):
            try requireKnown(wire)
            self = .progress(done: try number(wire.done, "a progress"), total: try number(wire.total, "a progress"))
        case nil: throw .malformed("a response without content")
        }
    }
}

// MARK: Parts

extension WireWelcome {
    fileprivate init(_ welcome: Response.Welcome) {
        self.init()
        version = welcome.version
        instance = Data(welcome.instance)
        mode = welcome.mode == .user ? 1 : welcome.mode == .system ? 2 : 3
        dataDirectory = welcome.dataDirectory
        stateDirectory = welcome.stateDirectory
    }

    fileprivate func decode() throws(WireError) -> Response.Welcome {
        guard version == WireVersion.current else { throw .version(version) }
        try requireKnown(self)
        guard instance.count == 16 else { throw .malformed("an instance has \(instance.count) bytes") }
        let modes: [UInt32: KeychainStatus.Mode] = [1: .user, 2: .system, 3: .session]
        guard let mode = modes[mode] else { throw .malformed("unknown mode \(mode)") }
        return Response.Welcome(
            version: version, instance: Array(instance), mode: mode, dataDirectory: dataDirectory,
            stateDirectory: stateDirectory)
    }
}

extension WireFailure {
    fileprivate init(_ error: KeychainError) {
        self.init()
        status = error.status.rawValue
        problem = error.problem
        if let hint = error.hint { self.hint = hint }
    }

    fileprivate func decode() throws(WireError) -> KeychainError {
        try requireKnown(self)
        guard status != 0 else { throw .malformed("a failure has the status of success") }
        return KeychainError(OSStatusCode(rawValue: status), problem, hint: hasHint ? hint : nil)
    }
}

extension WireKeychainStatus {
    fileprivate init(_ status: KeychainStatus) {
        self.init()
        mode = status.mode.rawValue
        root = status.root.rawValue
        if let path = status.databasePath { databasePath = path }
        if let path = status.deviceKeyPath { deviceKeyPath = path }
        formatVersion = UInt32(status.formatVersion)
        hasPasscode_p = status.hasPasscode
        counts = status.counts.map { count in
            .with {
                $0.itemClass = UInt32(count.itemClass.number)
                $0.protection = UInt32(count.protection.number)
                $0.count = UInt64(count.count)
            }
        }
        quarantined = UInt64(status.quarantined)
        hasAuditLog_p = status.hasAuditLog
    }

    fileprivate func decode() throws(WireError) -> KeychainStatus {
        try requireKnown(self)
        guard let mode = KeychainStatus.Mode(rawValue: mode) else { throw .malformed("unknown mode '\(mode)'") }
        guard let root = KeychainStatus.Root(rawValue: root) else { throw .malformed("unknown root '\(root)'") }
        var counts: [KeychainStatus.Count] = []
        for count in self.counts {
            try requireKnown(count)
            counts.append(
                KeychainStatus.Count(
                    itemClass: try ItemClass(wire: count.itemClass),
                    protection: try ProtectionClass(wire: count.protection),
                    count: try number(count.count, "a number of items")))
        }
        var status = KeychainStatus(
            mode: mode, root: root, databasePath: hasDatabasePath ? databasePath : nil,
            deviceKeyPath: hasDeviceKeyPath ? deviceKeyPath : nil,
            formatVersion: Int(formatVersion), hasPasscode: hasPasscode_p, counts: counts,
            quarantined: try number(quarantined, "a number of rows"))
        status.hasAuditLog = hasAuditLog_p
        return status
    }
}

extension WireFindings.Finding {
    fileprivate init(_ finding: KeychainFinding) {
        self.init()
        subject = finding.subject
        isHealthy = finding.isHealthy
        detail = finding.detail
        if let hint = finding.hint { self.hint = hint }
    }

    fileprivate func decode() throws(WireError) -> KeychainFinding {
        try requireKnown(self)
        return KeychainFinding(subject, isHealthy: isHealthy, detail: detail, hint: hasHint ? hint : nil)
    }
}

extension WireCallerReport {
    fileprivate init(_ report: CallerReport) {
        self.init()
        facts = report.facts.map { fact in
            .with {
                $0.name = fact.name
                $0.value = fact.value
                $0.grade = UInt32(fact.grade.rawValue)
                $0.source = fact.source
            }
        }
        groups = report.groups.map { group in
            .with {
                $0.name = group.name
                $0.grade = UInt32(group.grade.rawValue)
            }
        }
        hasAllGroups_p = report.hasAllGroups
        reason = report.reason
    }

    fileprivate func decode() throws(WireError) -> CallerReport {
        try requireKnown(self)
        var report = CallerReport(groups: [], hasAllGroups: hasAllGroups_p, reason: reason)
        for fact in facts {
            try requireKnown(fact)
            report.facts.append(
                CallerReport.Fact(fact.name, fact.value, try AccessGroup.Grade(wire: fact.grade), source: fact.source))
        }
        for group in groups {
            try requireKnown(group)
            report.groups.append(AccessGroup(group.name, grade: try AccessGroup.Grade(wire: group.grade)))
        }
        return report
    }
}

extension LockState {
    fileprivate var wire: UInt32 {
        switch self {
        case .beforeFirstUnlock: 1
        case .unlocked: 2
        case .locked: 3
        }
    }

    fileprivate init(wire number: UInt32) throws(WireError) {
        switch number {
        case 1: self = .beforeFirstUnlock
        case 2: self = .unlocked
        case 3: self = .locked
        default: throw .malformed("unknown lock state \(number)")
        }
    }
}

extension WireLockStatus {
    fileprivate init(_ status: LockStatus) {
        self.init()
        state = status.state.wire
        hasPasscode_p = status.hasPasscode
        hasRecoveryKey_p = status.hasRecoveryKey
        settings = WireSettings(status.settings)
        open = status.open.map { UInt32($0.number) }
        if let grace = status.graceLeft { graceLeft = grace }
        wrongPasscodes = UInt64(status.wrongPasscodes)
        delay = UInt64(status.delay)
        if let began = status.delayBegan { delayBegan = began }
        guesses = status.guesses.map { Guess($0) }
    }

    fileprivate func decode() throws(WireError) -> LockStatus {
        try requireKnown(self)
        var open: Set<ProtectionClass> = []
        for code in self.open { open.insert(try ProtectionClass(wire: code)) }
        var status = LockStatus(
            state: try LockState(wire: state), hasPasscode: hasPasscode_p, hasRecoveryKey: hasRecoveryKey_p,
            settings: try settings.decode(),
            open: open, graceLeft: hasGraceLeft ? graceLeft : nil,
            wrongPasscodes: try number(wrongPasscodes, "a number of attempts"),
            delay: try number(delay, "a delay"), delayBegan: hasDelayBegan ? delayBegan : nil)
        for guess in guesses { status.guesses.append(try guess.decode()) }
        return status
    }
}

extension WireLockStatus.Guess {
    fileprivate init(_ guess: PasscodeGuess) {
        self.init()
        program = guess.program
        if let user = guess.user { self.user = user }
        if let process = guess.process { self.process = process }
        count = UInt64(max(0, guess.count))
        first = guess.first
        last = guess.last
    }

    fileprivate func decode() throws(WireError) -> PasscodeGuess {
        try requireKnown(self)
        return PasscodeGuess(
            program: program, user: hasUser ? user : nil, process: hasProcess ? process : nil,
            count: try number(count, "a number of passcodes"), first: first, last: last)
    }
}

extension WireBackupReport {
    fileprivate init(_ report: BackupReport) {
        self.init()
        portable = UInt64(report.portable)
        deviceBound = UInt64(report.deviceBound)
        staying = UInt64(report.staying)
        damaged = UInt64(report.damaged)
        notExtractable = UInt64(report.notExtractable)
        notExtractableNames = report.notExtractableNames
    }

    fileprivate func decode() throws(WireError) -> BackupReport {
        try requireKnown(self)
        var report = BackupReport()
        report.portable = try number(portable, "a number of items")
        report.deviceBound = try number(deviceBound, "a number of items")
        report.staying = try number(staying, "a number of items")
        report.damaged = try number(damaged, "a number of items")
        report.notExtractable = try number(notExtractable, "a number of items")
        guard notExtractableNames.count <= BackupReport.maxNames else {
            throw .malformed("a report has too many names")
        }
        report.notExtractableNames = notExtractableNames
        return report
    }
}

extension WireRestoreReport {
    fileprivate init(_ report: RestoreReport) {
        self.init()
        items = UInt64(report.items)
        added = UInt64(report.added)
        replaced = UInt64(report.replaced)
        kept = UInt64(report.kept)
        foreign = UInt64(report.foreign)
        deleted = UInt64(report.deleted)
        refused = UInt64(report.refused)
        refusals = report.refusals
    }

    fileprivate func decode() throws(WireError) -> RestoreReport {
        try requireKnown(self)
        var report = RestoreReport()
        report.items = try number(items, "a number of items")
        report.added = try number(added, "a number of items")
        report.replaced = try number(replaced, "a number of items")
        report.kept = try number(kept, "a number of items")
        report.foreign = try number(foreign, "a number of items")
        report.deleted = try number(deleted, "a number of items")
        report.refused = try number(refused, "a number of items")
        guard refusals.count <= RestoreReport.maxReasons else { throw .malformed("a report has too many reasons") }
        report.refusals = refusals
        return report
    }
}

extension WireLogVerdict {
    fileprivate init(_ verdict: AuditVerification) {
        self.init()
        isIntact = verdict.isIntact
        lines = UInt64(verdict.lines)
        if let first = verdict.firstWrong { firstWrong = first }
        detail = verdict.detail
        removals = verdict.removals.map { Removal($0) }
    }

    fileprivate func decode() throws(WireError) -> AuditVerification {
        try requireKnown(self)
        var verdict = AuditVerification(
            isIntact: isIntact, lines: try number(lines, "a number of lines"),
            firstWrong: hasFirstWrong ? firstWrong : nil, detail: detail)
        for removal in removals { verdict.removals.append(try removal.decode()) }
        return verdict
    }
}

extension WireLogVerdict.Removal {
    fileprivate init(_ removal: AuditRemoval) {
        self.init()
        reason = removal.reason.rawValue
        first = removal.first
        last = removal.last
        lines = removal.lines
        if let since = removal.since { self.since = since }
        if let until = removal.until { self.until = until }
        if let removed = removal.removed { self.removed = removed }
    }

    fileprivate func decode() throws(WireError) -> AuditRemoval {
        try requireKnown(self)
        guard let reason = AuditRemoval.Reason(rawValue: reason) else {
            throw .malformed("unknown reason '\(reason)' for a removal of lines")
        }
        return AuditRemoval(
            reason, first: first, last: last, lines: lines, since: hasSince ? since : nil,
            until: hasUntil ? until : nil,
            removed: hasRemoved ? removed : nil)
    }
}
