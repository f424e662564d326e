import type { Plain } from '../crud/plain.js';
import type { TIMELINE_SOURCES, TimelineEntry } from './timeline.view.js';

/** An entry before it is rendered, with its time for the order. */
export interface Entry {
  readonly atMs: number;
  readonly shown: Plain<TimelineEntry>;
}

export function entry(
  at: Date,
  type: string,
  source: (typeof TIMELINE_SOURCES)[number],
  { summary, details }: Pick<TimelineEntry, 'summary' | 'details'>,
): Entry {
  return { atMs: at.getTime(), shown: { at: at.toISOString(), type, source, summary, details } };
}
