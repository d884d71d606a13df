// SPDX-License-Identifier: Apache-2.0

extension AuditLog {
    /// The maximum size of the log, the period that it covers, and the share of one program.
    public struct Limits: Sendable, Equatable {
        /// The file length that starts a new file, in bytes.
        public var fileLength: Int
        /// The file age that starts a new file, in seconds. A program that has used up its part gets a new part then.
        public var fileAge: Double
        /// The maximum length of all files together, in bytes. It takes precedence over
        /// ``minimumAge``: if both cannot be met, refusals are removed first.
        public var totalLength: Int
        /// The maximum number of files beside the current one.
        public var maxFiles: Int
        /// The period that the log covers at least, in seconds, as far as ``totalLength`` allows.
        public var minimumAge: Double
        /// The maximum size of one program's lines in a file, in bytes. After that, the program's
        /// decisions are counted.
        public var programLength: Int
        /// How long repetitions of a refusal are counted before a line reports them, in seconds.
        public var repeatInterval: Double
        /// The same for all decisions of a throttled program.
        public var throttledInterval: Double
        /// The number of repetitions that makes a line report them.
        public var maxRepeats: Int
        /// The maximum number of decisions that are remembered, for all programs, to recognize
        /// repetitions.
        public var maxCounters: Int

        /// The default limits: at most 40 MiB, at least 30 days.
        public init() { self.init(totalLength: 40 << 20) }

        /// - Parameters:
        ///   - totalLength: in bytes; values below 1 MiB count as 1 MiB. A file gets a fifth of it,
        ///     and a program a quarter of a file.
        ///   - minimumAge: in seconds.
        public init(totalLength: Int, minimumAge: Double = 30 * 86400) {
            let total = max(1 << 20, totalLength)
            self.init(fileLength: total / 5, totalLength: total, minimumAge: minimumAge)
        }

        /// These limits with at most so many bytes of all files together.
        public func atMost(_ length: Int) -> Limits {
            guard length < totalLength else { return self }
            var limits = self
            (limits.totalLength, limits.fileLength, limits.programLength) = (length, length / 5, length / 20)
            return limits
        }

        init(
            fileLength: Int, totalLength: Int, maxFiles: Int = 64, minimumAge: Double = 30 * 86400,
            programLength: Int? = nil,
            repeatInterval: Double = 60, throttledInterval: Double = 600, maxRepeats: Int = 10_000,
            maxCounters: Int = 256
        ) {
            self.fileLength = fileLength
            // One busy program writes a quarter of each file, so that its lines fit into the log
            // for the whole period.
            fileAge = max(86400, minimumAge / 15)
            self.totalLength = totalLength
            self.maxFiles = maxFiles
            self.minimumAge = minimumAge
            self.programLength = programLength ?? fileLength / 4
            self.repeatInterval = repeatInterval
            self.throttledInterval = throttledInterval
            self.maxRepeats = maxRepeats
            self.maxCounters = maxCounters
        }
    }
}
