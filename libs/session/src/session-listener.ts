import type { Uuid } from '@countersign/ids';

/** A check of a code of a live session that was compared, or that came after the last attempt. */
export interface CodeCheck {
  readonly accountId: Uuid;
  /** E.164. */
  readonly phone: string;
  readonly result: 'approved' | 'wrong' | 'too_many';
}

/** The reactions to committed writes of sessions. They must not throw. */
export interface SessionListener {
  /** Called with the ids of event rows, to notify the dispatcher. */
  onEvents(ids: readonly string[]): void;
  /** Called with code checks of live sessions. */
  onChecks?(checks: readonly CodeCheck[]): void;
}
