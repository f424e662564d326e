/** Callbacks of a connection. */
export interface BusEvents {
  /** Called with a message of a joined topic. */
  onMessage(topic: string, octets: Buffer): void;
  /** Called once per failure: a message was lost, or the connection is unavailable. */
  onError(error: unknown): void;
}

/** Transports octets between processes by topic. One conformance suite runs on every adapter. */
export interface BusConnection {
  /**
   * Returns at once and never throws. Messages that cannot be sent now are dropped. Messages of one sender keep their
   * order.
   */
  send(topic: string, octets: Buffer): void;
  /**
   * Resolves when messages sent from now on will be received, or when the connection is unavailable; never rejects.
   */
  join(topic: string): Promise<void>;
  leave(topic: string): void;
  close(): Promise<void>;
}
