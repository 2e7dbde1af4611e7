/// A deliberate defect of the pipeline that the exploration of its threads must find.
///
/// Release builds have none.
package enum PipelineDefect: CaseIterable, Sendable {
  /// Output is sent before its commit.
  case earlyReplies
  /// Output of a failed commit is sent.
  case failedReplies
  /// A request overtakes one of its family that waits for a read.
  case overtaking
  /// A worker rests although a request arrived after it had looked.
  case workerSleeps
  /// The commit thread rests although output arrived after it had looked.
  case commitsSleep
  /// A thread that waits for the end of the commits is not woken.
  case waiterSleeps
  /// A blocked worker tells nobody.
  case silentBlock
  /// Reads start before the commit of the output before them.
  case earlyReads
  /// The reader tells nobody that a batch is read.
  case silentReads
  /// Cursors are written before the events that they count.
  case earlyCursors
  /// The socket thread uses shards while their workers run.
  case sharedShards
}

/// The defects of a pipeline: at most one, in debug builds.
struct Defects: Sendable {
  #if DEBUG
    var defect: PipelineDefect?
  #endif

  @inline(__always) func has(_ other: PipelineDefect) -> Bool {
    #if DEBUG
      defect == other
    #else
      false
    #endif
  }
}
