// SPDX-License-Identifier: Apache-2.0

extension AuditLog {
    /// How long the log may become, how far it reaches back, and what one program may write.
    public struct Limits: Sendable, Equatable {
        /// The length at which a new file is begun, in bytes.
        public var fileLength: Int
        /// The age at which a new file is begun, in seconds: so that a program that has used up its part has one again.
        public var fileAge: Double
        /// The length of all files together, in bytes. Stronger than ``minimumAge``: where both cannot hold, refusals are removed first.
        public var totalLength: Int
        /// How many files are kept beside the one that is written.
        public var maxFiles: Int
        /// How far the log reaches back at least, in seconds, as long as ``totalLength`` allows.
        public var minimumAge: Double
        /// How many bytes of a file the lines of one program take. After them, what the program does is counted.
        public var programLength: Int
        /// For how long repetitions of a refusal are counted before they are written, in seconds.
        public var repeatInterval: Double
        /// The same, for everything that a program does which has used up its part of a file.
        public var throttledInterval: Double
        /// How many repetitions are counted before they are written.
        public var maxRepeats: Int
        /// How many decisions are remembered, of all programs, to recognise repetitions.
        public var maxCounters: Int

        /// Those of a log that may take 40 MiB and reaches back 30 days.
        public init() { self.init(totalLength: 40 << 20) }

        /// - Parameters:
        ///   - totalLength: in bytes; at least 1 MiB is used. A file has a fifth of it, and a program a quarter of a file.
        ///   - minimumAge: in seconds.
        public init(totalLength: Int, minimumAge: Double = 30 * 86400) {
            let total = max(1 << 20, totalLength)
            self.init(fileLength: total / 5, totalLength: total, minimumAge: minimumAge)
        }

        init(
            fileLength: Int, totalLength: Int, maxFiles: Int = 64, minimumAge: Double = 30 * 86400,
            programLength: Int? = nil,
            repeatInterval: Double = 60, throttledInterval: Double = 600, maxRepeats: Int = 10_000,
            maxCounters: Int = 256
        ) {
            self.fileLength = fileLength
            // With a quarter of a file each time, one busy program fits into the log for the whole age.
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
