// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import KeychainStore
internal import LinuxSystem

/// Selects the files to remove when a new file begins: the oldest, as long as there are too many or they are too long. In
/// files within the minimum age, refusals are removed first, and whole files only after that.
struct AuditRetention {
    let store: KeychainStore
    let files: AuditFiles
    let limits: AuditLog.Limits
    /// Seconds since 2001.
    let now: Double

    struct Plan {
        /// The number of files to keep beside the new one.
        var kept: Int
        /// The files to remove, the oldest first.
        var removals: [AuditRemoval] = []
    }

    /// Makes space for a new file. The files to remove are not removed yet.
    ///
    /// - Parameters:
    ///   - number: the number of the current file, to be renamed next.
    ///   - compacted: the numbers of the files with nothing more to remove.
    func plan(_ number: Int64, _ compacted: inout Set<Int64>) throws(KeychainError) -> Plan {
        do throws(SystemError) {
            // Indexed by age; the current file comes first.
            var lengths: [Int] = []
            for age in 0...(try files.count()) { lengths.append(try files.length(ofAge: age)) }
            var plan = Plan(kept: lengths.count)
            while plan.kept > 1 {
                let isTooLong = lengths.prefix(plan.kept).reduce(0, +) + limits.fileLength > limits.totalLength
                guard isTooLong || plan.kept > max(1, limits.maxFiles) else { break }
                let oldest = plan.kept - 1
                let span = try span(ofAge: oldest)
                let isExpired = span.map { self.isExpired($0) } ?? true
                if !isExpired, plan.kept <= limits.maxFiles, let age = try compactNext(upTo: oldest, number, &compacted)
                {
                    lengths[age] = try files.length(ofAge: age)
                    continue
                }
                if var span {
                    span.reason = isExpired ? .age : .size
                    plan.removals.append(span)
                }
                plan.kept -= 1
            }
            return plan
        } catch {
            throw KeychainError(error)
        }
    }

    private func isExpired(_ span: AuditRemoval) -> Bool {
        // A file without a readable time counts as old.
        guard let until = span.until else { return true }
        return until <= now + Double(Clocks.secondsBetweenEpochs) - limits.minimumAge
    }

    /// Returns the first and the last line of a file; nil if it has none.
    private func span(ofAge age: Int) throws(SystemError) -> AuditRemoval? {
        var (first, last, count): (AuditLine?, AuditLine?, UInt64) = (nil, nil, 0)
        try AuditFile.read(files.path(ofAge: age)) { line in
            if first == nil { first = line }
            last = line
            count += 1
            return true
        }
        guard let first, let last, let from = first.sequence, let to = last.gap?.removal.last ?? last.sequence,
            from <= to
        else {
            return nil
        }
        return AuditRemoval(.size, first: from, last: to, lines: count, since: first.time, until: last.time)
    }

    /// Removes the refusals from the oldest file that has any.
    ///
    /// - Returns: the age of the file; nil if no file has any.
    private func compactNext(upTo oldest: Int, _ number: Int64, _ compacted: inout Set<Int64>) throws(SystemError)
        -> Int?
    {
        for age in stride(from: oldest, through: 1, by: -1) {
            let file = number - Int64(age)
            guard !compacted.contains(file) else { continue }
            compacted.insert(file)
            guard let result = try AuditCompaction.of(files.path(ofAge: age), number: file, in: store, now: now) else {
                continue
            }
            try files.replace(ofAge: age, by: result.lines)
            return age
        }
        return nil
    }
}
