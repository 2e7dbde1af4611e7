/// Registration of sockets, descriptors and turn handlers.
///
/// Precondition of each method: the caller is on this thread, that is, in an actor whose executor
/// it is. Otherwise the method traps. After ``stop()`` the methods have no effect, except that
/// ``watch(_:onReadable:)`` closes the socket.
extension SocketThread {
  /// The registration of a stopped thread. Its handler is never called.
  private static let never = Registration(kind: .turn(0))

  /// Calls `onReadable` in each turn in which messages are queued. From now on this thread owns the
  /// socket and closes it at ``stop()``.
  ///
  /// The handler receives until ``ReceiveResult/nothing``, or returns earlier so that other
  /// handlers run; the next turn calls it again. The handler should reference its actor weakly.
  @discardableResult
  public func watch(
    _ socket: borrowing Socket, onReadable: @escaping () -> Void
  ) -> Registration {
    checkIsolated()
    precondition(socket.handle.thread == nil, "a socket has one handler")
    guard !loop.hasEnded else {
      socket.handle.close()
      return Self.never
    }
    let token = loop.poller.watch(socket.handle)
    socket.handle.thread = self
    loop.watched[token] = socket.handle
    loop.handlers[token] = onReadable
    return Registration(kind: .poll(token))
  }

  /// Calls `onReadable` in each turn in which the file descriptor is readable or at its end.
  ///
  /// Precondition: the caller keeps the descriptor open until after ``unwatch(_:)``.
  @discardableResult
  public func watch(
    fileDescriptor: Int32, onReadable: @escaping () -> Void
  ) -> Registration {
    checkIsolated()
    guard !loop.hasEnded else { return Self.never }
    let token = loop.poller.watch(fileDescriptor: fileDescriptor)
    loop.handlers[token] = onReadable
    return Registration(kind: .poll(token))
  }

  /// Calls `handler` once per turn, after the jobs and after the readable handlers of the preceding
  /// turn. Suits group commits and timers.
  /// - Parameter handler: Receives ``MonotonicInstant/now`` and returns its next deadline on the same
  ///   clock, or `nil`. A deadline is kept to the millisecond and never early. A deadline in the
  ///   past makes the loop spin.
  @discardableResult
  public func onTurn(_ handler: @escaping (_ now: MonotonicInstant) -> MonotonicInstant?)
    -> Registration
  {
    checkIsolated()
    guard !loop.hasEnded else { return Self.never }
    loop.lastTurn += 1
    loop.turns.append((loop.lastTurn, handler))
    return Registration(kind: .turn(loop.lastTurn))
  }

  /// Stops or resumes polling a watched socket or file descriptor. Its messages stay queued
  /// meanwhile.
  public func mute(_ registration: Registration, _ isMuted: Bool) {
    checkIsolated()
    if case .poll(let token) = registration.kind { loop.poller.mute(token, isMuted) }
  }

  /// Removes a handler. The handler of a closed socket is removed automatically. An open socket
  /// stays open until its value ends.
  public func unwatch(_ registration: Registration) {
    checkIsolated()
    switch registration.kind {
    case .poll(let token):
      loop.forget(token)
    case .turn(let number):
      loop.turns.removeAll { $0.number == number }
    }
  }
}
