/** What a line tells its owner. */
export interface LineEvents {
  /** A message of a topic that was joined. */
  onMessage(topic: string, octets: Buffer): void;
  /** A message was lost, or the line is away: one call for each failure. */
  onError(error: unknown): void;
}

/** Carries octets between processes by topic. One conformance suite runs on every adapter. */
export interface BusConnection {
  /** Returns at once and never throws. What cannot be sent now is dropped. Messages of one sender keep their order. */
  send(topic: string, octets: Buffer): void;
  /** Settles when messages that are sent from now on will be heard, or when the line was found to be away; never rejects. */
  join(topic: string): Promise<void>;
  leave(topic: string): void;
  close(): Promise<void>;
}
